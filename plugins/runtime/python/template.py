# SPDX-License-Identifier: MIT
# template.py - what a template does before it is copied for each session, and each copy afterwards.
#
# CPython's own hooks (os.register_at_fork) renew random, threading, logging and whatever packages
# registered; this file renews the rest of what would be the same in every copy. Modules that are
# not loaded need no renewal.
import os


def preload(names):
    import importlib
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as error:
            raise ImportError("%s: %s: %s" % (name, type(error).__name__, error)) from error


def forget_warm_up():
    import builtins
    forget_sources()
    vars(builtins).pop('_', None)


def before_fork():
    # Objects that exist now are in every copy: exempt them from collections, so that their pages
    # stay shared.
    global _ast
    import gc
    import _ast  # prepare() and keep_tools() need them
    import _symtable
    for n in range(5):  # sessions may add tools
        make_body(', '.join('p%d' % i for i in range(n)), n)
    forget_warm_up()
    gc.collect()
    gc.freeze()


def renew_ssl(ssl):
    ssl.RAND_add(os.urandom(32), 32.0)  # makes its generators reseed at their next use


def renew_numpy(random):
    random.seed()


def renew_multiprocessing(process):
    process.current_process().authkey = os.urandom(32)


def renew_tempfile(tempfile):
    tempfile._name_sequence = None


def renew_uuid(uuid):
    uuid._node = uuid._last_timestamp = None


RENEWED = {
    '_ssl': renew_ssl,
    'numpy.random': renew_numpy,
    'multiprocessing.process': renew_multiprocessing,
    'tempfile': renew_tempfile,
    'uuid': renew_uuid,
}


def renew():
    forget_warm_up()
    for name, function in RENEWED.items():
        module = sys.modules.get(name)
        if module is not None:
            function(module)
