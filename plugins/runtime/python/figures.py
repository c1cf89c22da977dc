# SPDX-License-Identifier: MIT
# figures.py - figures of matplotlib become artifacts: those that are shown, and those that are
# still open when an execution ends.
#
# Runs in the namespace of bootstrap.py, when the code imports matplotlib.pyplot. There is no
# display, so show() would do nothing but warn.
import os

figures = 0  # that were saved


def figure_path(folder):
    global figures
    while True:
        figures += 1
        path = os.path.join(folder, 'figure-%d.png' % figures)
        if not os.path.lexists(path):
            return path


def save_figures():
    pyplot = sys.modules.get('matplotlib.pyplot')
    folder = os.environ.get('LAZARET_ARTIFACTS')
    if pyplot is None or not folder:
        return
    for number in pyplot.get_fignums():
        try:
            os.makedirs(folder, exist_ok=True)
            pyplot.figure(number).savefig(figure_path(folder), format='png')
        except Exception as error:
            print('lazaret: figure %d cannot be saved: %s' % (number, error), file=sys.stderr)
        pyplot.close(number)


def show_figures(*args, **named):
    save_figures()


def take_figures(module):
    if os.environ.get('LAZARET_ARTIFACTS'):
        show_figures.__doc__ = module.show.__doc__
        module.show = show_figures
