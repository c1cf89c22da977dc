# SPDX-License-Identifier: MIT
"""terminals.py - programs of `lazaret run -- CMD` at a terminal, which this program is the user of.

LAZARET is the command in the environment. Nothing depends on a clock: what is waited for is written,
and a test that waits in vain is ended by the harness."""
import errno
import fcntl
import os
import pty
import signal
import struct
import tempfile
import termios
import unittest

LAZARET = os.environ["LAZARET"]


def set_size(fd, lines, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


class User:
    """Somebody at a terminal of 33 lines and 101 columns, who starts lazaret there."""

    def __init__(self, *arguments, redirect=None):
        self.keys, self.terminal = pty.openpty()
        set_size(self.terminal, 33, 101)
        self.before = termios.tcgetattr(self.terminal)
        self.seen = b""
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.terminal, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(self.terminal, fd)
            if redirect:
                os.dup2(os.open(redirect, os.O_WRONLY | os.O_CREAT, 0o600), 2)
            os.closerange(3, 64)
            os.environ["TERM"] = "xterm-like"
            for number in range(1, 32):
                if number not in (signal.SIGKILL, signal.SIGSTOP):
                    signal.signal(number, signal.SIG_DFL)
            os.execv(LAZARET, [LAZARET, "run", *arguments])

    def until(self, text):
        """Reads until this has been shown, and returns what was."""
        while text not in self.seen:
            self.seen += os.read(self.keys, 4096)
        shown, _, self.seen = self.seen.partition(text)
        return shown + text

    def types(self, text):
        os.write(self.keys, text)

    def is_raw(self):
        flags = termios.tcgetattr(self.terminal)[3]
        return not flags & (termios.ICANON | termios.ECHO | termios.ISIG)

    def unread(self):
        # in lines a terminal says only what ends with one
        modes = termios.tcgetattr(self.terminal)
        modes[3] &= ~termios.ICANON
        termios.tcsetattr(self.terminal, termios.TCSANOW, modes)
        return struct.unpack("i", fcntl.ioctl(self.terminal, termios.FIONREAD, bytes(4)))[0]

    def end(self):
        """Its status, or minus its signal; all that is left to be seen is in `seen` then."""
        _, status = os.waitpid(self.pid, 0)
        self.after = termios.tcgetattr(self.terminal)
        os.set_blocking(self.keys, False)
        try:
            while piece := os.read(self.keys, 4096):
                self.seen += piece
        except OSError:
            pass
        return os.waitstatus_to_exitcode(status)


def shell(code):
    return "--", "sh", "-c", code


WAITS = "sleep 1000 & echo ready; wait" # it is past what a signal could meet half done


class Terminals(unittest.TestCase):
    def ends(self, user, status):
        self.assertEqual(user.end(), status, user.seen)
        self.assertEqual(user.after, user.before, "the terminal is not as it was")

    def test_a_program_has_a_terminal_of_its_own(self):
        user = User(*shell("for fd in 0 1 2; do test -t $fd && echo yes; done; stty size; echo $TERM; "
                           "echo mine >/dev/tty; echo too >/dev/stderr; exit 3"))
        self.ends(user, 3)
        self.assertEqual(user.seen.split(), b"yes yes yes 33 101 xterm-like mine too".split())

    def test_the_users_terminal_is_raw_meanwhile(self):
        user = User(*shell("echo ready; read -r line; echo \"<$line>\""))
        user.until(b"ready")
        self.assertTrue(user.is_raw())
        user.types(b"text\r")
        self.ends(user, 0)
        self.assertIn(b"text\r\n<text>", user.seen)

    def test_a_new_size_is_passed_on(self):
        user = User(*shell("trap 'stty size; exit 9' WINCH; " + WAITS))
        user.until(b"ready")
        set_size(user.terminal, 44, 102)
        self.assertEqual(user.end(), 9)
        self.assertIn(b"44 102", user.seen)

    def test_an_interrupt_ends_the_program(self):
        user = User(*shell(WAITS))
        user.until(b"ready")
        user.types(b"\x03")
        self.ends(user, 130)

    def test_an_interrupt_is_a_matter_of_the_program(self):
        user = User(*shell("trap 'echo caught; exit 7' INT; " + WAITS))
        user.until(b"ready")
        user.types(b"\x03")
        self.ends(user, 7)
        self.assertIn(b"caught", user.seen)

    def test_so_is_the_key_that_quits(self):
        user = User(*shell("trap 'echo caught; exit 8' QUIT; " + WAITS))
        user.until(b"ready")
        user.types(b"\x1c")
        self.ends(user, 8)

    def test_a_shell_has_job_control(self):
        user = User("--", "bash", "--norc", "--noprofile", "-i")
        user.types(b"PS1='next''> '; set +o emacs\r")
        user.until(b"next> ")
        user.types(b"sh -c 'trap \"echo be\\hind; exit\" CONT; echo be\\gun; sleep 1000 & wait'\r")
        user.until(b"begun")
        user.types(b"\x1a")
        user.until(b"Stopped")
        user.until(b"next> ")
        user.types(b"fg\r")
        user.until(b"behind")
        user.types(b"exit 5\r")
        self.ends(user, 5)

    def test_signals_end_the_program_and_give_the_terminal_back(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            user = User(*shell("trap '' TERM HUP INT; echo ready; while :; do sleep 1000; done"))
            user.until(b"ready")
            os.kill(user.pid, number)
            self.ends(user, 128 + number)

    def test_so_do_signals_that_are_not_caught(self):
        for number in (signal.SIGQUIT, signal.SIGSEGV, signal.SIGUSR1, signal.SIGPROF):
            user = User(*shell("echo ready; sleep 1000"))
            user.until(b"ready")
            os.kill(user.pid, number)
            self.ends(user, -number)

    def test_who_stops_it_gets_the_terminal(self):
        user = User(*shell("echo ready; read -r line; echo \"<$line>\""))
        user.until(b"ready")
        os.kill(user.pid, signal.SIGTSTP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(user.pid, os.WUNTRACED)[1]))
        self.assertEqual(termios.tcgetattr(user.terminal), user.before)
        os.kill(user.pid, signal.SIGCONT)
        user.types(b"on\r")
        self.ends(user, 0)
        self.assertIn(b"<on>", user.seen)

    def test_answers_that_nobody_reads_are_not_typed_to_the_next(self):
        with tempfile.TemporaryDirectory() as directory:
            os.chmod(directory, 0o755)
            os.mkfifo(directory + "/go")
            os.chmod(directory + "/go", 0o644)
            user = User("--read", directory, *shell("printf '\\033[c'; cat %s/go" % directory))
            user.until(b"\x1b[c")
            os.kill(user.pid, signal.SIGSTOP)
            os.waitpid(user.pid, os.WUNTRACED)
            user.types(b"\x1b[?62;22c")
            with open(directory + "/go", "wb"):
                pass
            os.kill(user.pid, signal.SIGCONT)
            self.ends(user, 0)
            self.assertEqual(user.unread(), 0)

    def test_its_output_is_as_it_is(self):
        user = User(*shell("printf '\\033[1mx\\033[0m\\377\\n'"))
        self.ends(user, 0)
        self.assertEqual(user.seen, b"\x1b[1mx\x1b[0m\xff\r\n")

    def test_without_one_control_characters_are_shown(self):
        user = User("-T", *shell("test -t 1 || printf '\\033[1mx\\n'"))
        self.ends(user, 0)
        self.assertEqual(user.seen, b"\\x1b[1mx\r\n")

    def test_errors_go_where_they_are_sent(self):
        with tempfile.NamedTemporaryFile() as errors:
            user = User(*shell("echo out; echo err >&2; test -t 2"), redirect=errors.name)
            self.ends(user, 1)
            self.assertEqual(user.seen, b"out\r\n")
            self.assertEqual(errors.read(), b"err\n")

    def test_a_language_gets_one_that_asks(self):
        user = User("-t", "--runtime", "lua", "-e", "io.write('? ') print('<' .. io.read() .. '>')")
        user.until(b"? ")
        self.assertTrue(user.is_raw())
        user.types(b"line\r")
        self.ends(user, 0)
        self.assertIn(b"<line>", user.seen)

    def test_an_interrupt_is_that_of_the_language(self):
        code = "print(pcall(function() print('ready') while true do end end)) print('on')"
        user = User("-t", "--runtime", "lua", "-e", code)
        user.until(b"ready")
        user.types(b"\x03")
        user.end()
        self.assertIn(b"interrupted", user.seen)

    def test_without_one_of_ours_it_can_be_asked_for(self):
        end, from_user = os.pipe()
        os.write(from_user, b"half a line")
        os.close(from_user)
        pid = os.fork()
        reads, writes = None, None
        if pid == 0:
            os.dup2(end, 0)
            out = os.open(os.environ["TERMINALS_OUT"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(out, 1)
            os.execv(LAZARET, [LAZARET, "run", "-t", *shell("stty -echo; stty size; cat; exit 6")])
        os.close(end)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 6)
        with open(os.environ["TERMINALS_OUT"], "rb") as out:
            self.assertIn(b"24 80\r\n", out.read())

    def test_nothing_can_be_typed_into_a_terminal(self):
        code = ("import fcntl, sys, termios\n"
                "for name in ('TIOCSTI', 'TIOCLINUX'):\n"
                "    try:\n"
                "        fcntl.ioctl(0, getattr(termios, name), b'\\x02x')\n"
                "    except OSError as error:\n"
                "        print(error.errno)\n")
        user = User("--", "python3", "-I", "-c", code)
        self.ends(user, 0)
        self.assertEqual(user.seen.split(), [b"%d" % errno.EPERM] * 2)


if __name__ == "__main__":
    unittest.main(verbosity=0)
