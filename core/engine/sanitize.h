#include "base/buf.h"
void laz_sanitize(const char *text, size_t max, struct laz_buf *out);
