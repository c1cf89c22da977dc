/* SPDX-License-Identifier: MIT */
/* shared.c - what the boxes of an engine share: the backend that was chosen, and the end of it all.
 */
#include "box/shared.h"

#include "os/cgroup.h"
#include "os/uids.h"

#include <stdlib.h>

int laz_box_chosen(const struct laz_box_shared *shared, const struct laz_backend_choice **choice,
                   struct laz_error *err)
{
    *choice = &shared->choice;
    return shared->choice.ops
               ? 0
               : laz_error_set(err, LAZ_ESETUP, 0, "no backend of sandbox.backend works");
}

void laz_box_shared_fini(struct laz_box_shared *shared)
{
    laz_buf_fini(&shared->choice.options);
    free(shared->choice.name);
    laz_programs_store_fini(&shared->programs);
    laz_strv_fini(&shared->unmet);
    laz_cgroups_free(shared->groups);
    laz_uids_free(shared->uids);
}
