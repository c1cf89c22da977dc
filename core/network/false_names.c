#include "network/network_private.h"
