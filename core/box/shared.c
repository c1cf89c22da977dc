/* SPDX-License-Identifier: MIT */
/* shared.c - what the boxes of an engine share: the backend that was chosen, times, the end. */
#include "box/shared.h"

#include "os/cgroup.h"
#include "os/uids.h"

#include <stdlib.h>
#include <string.h>

#define BOX_TOKEN_MS 5000 /* from the spawn to the token, at least */

uint64_t laz_box_spawn_ms(const struct laz_box_shared *shared)
{
    return shared->values->session.start_timeout_ms / 2;
}

uint64_t laz_box_token_ms(const struct laz_box_shared *shared)
{
    uint64_t part = shared->values->session.start_timeout_ms / 4;

    return part > BOX_TOKEN_MS ? part : BOX_TOKEN_MS;
}

bool laz_box_has_socket(const struct laz_box *box)
{
    return box->socket_name && strncmp(box->socket_name, box->folder, strlen(box->folder)) == 0;
}

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
