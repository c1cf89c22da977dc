# SPDX-License-Identifier: MIT
# figures.py - figures of matplotlib become artifacts: those that are shown, and those that are
# still open when an execution ends.
#
# Runs in the namespace of bootstrap.py, when the code imports matplotlib.pyplot. There is no
# display, so show() would do nothing but warn.
import os

figures = 0  # that were saved


def figure_path(directory):
    global figures
    while True:
        figures += 1
        path = os.path.join(directory, 'figure-%d.png' % figures)
        if not os.path.lexists(path):
            return path


def save_figures():
    pyplot = sys.modules.get('matplotlib.pyplot')
    directory = os.environ.get('LAZARET_ARTIFACTS')
    if pyplot is None or not directory:
        return
    for number in pyplot.get_fignums():
        try:
            os.makedirs(directory, exist_ok=True)
            pyplot.figure(number).savefig(figure_path(directory), format='png')
        except Exception as error:
            print('lazaret: figure %d cannot be saved: %s' % (number, error), file=sys.stderr)
        pyplot.close(number)


def show_figures(*args, **named):
    save_figures()


def take_figures(module):
    if os.environ.get('LAZARET_ARTIFACTS'):
        show_figures.__doc__ = module.show.__doc__
        module.show = show_figures
