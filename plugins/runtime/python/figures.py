# SPDX-License-Identifier: MIT
# figures.py - figures of matplotlib become artifacts: those that are shown, and those that are
# still open when an execution ends, unless the code has saved them as they are.
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


def is_saved(figure):
    # Has the code saved it where the host gets it, and drawn nothing since?
    return vars(figure).get('_lazaret_saved', False) and not figure.stale


def save_figures():
    pyplot = sys.modules.get('matplotlib.pyplot')
    directory = os.environ.get('LAZARET_ARTIFACTS')
    if pyplot is None or not directory:
        return
    for number in pyplot.get_fignums():
        try:
            figure = pyplot.figure(number)
            if not is_saved(figure):
                os.makedirs(directory, exist_ok=True)
                figure.savefig(figure_path(directory), format='png')
        except Exception as error:
            print('lazaret: figure %d cannot be saved: %s' % (number, error), file=sys.stderr)
        pyplot.close(number)


def show_figures(*args, **named):
    save_figures()


def noting(savefig):
    def note(self, fname, *args, **named):
        result = savefig(self, fname, *args, **named)
        if isinstance(fname, (str, os.PathLike)) and keeps(fname):
            self._lazaret_saved = True
            self.stale = False  # until something is drawn
        return result
    note.__name__, note.__qualname__, note.__doc__ = (
        savefig.__name__, savefig.__qualname__, savefig.__doc__)
    note.__wrapped__ = savefig
    return note


def take_figures(module):
    if os.environ.get('LAZARET_ARTIFACTS'):
        show_figures.__doc__ = module.show.__doc__
        module.show = show_figures
        figure = sys.modules['matplotlib.figure'].Figure
        figure.savefig = noting(figure.savefig)
