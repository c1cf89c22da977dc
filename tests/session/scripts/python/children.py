import os
import subprocess
import sys

print(subprocess.run(['sort', '-r'], input='a\nc\nb\n', capture_output=True, text=True).stdout)
print(subprocess.check_output('echo $((6 * 7)) | tr 2 3; exit 0', shell=True, text=True))
done = subprocess.run(['sh', '-c', 'echo oops >&2; exit 9'], stderr=subprocess.PIPE)
print(done.returncode, done.stderr, os.system('exit 3') >> 8, os.popen('printf x').read())
child = subprocess.Popen([sys.executable, '-c', 'print(input()[::-1])'], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
print(child.communicate('abc\n'), child.returncode)
sys.stdout.flush()
subprocess.run(['echo', 'straight', 'through'])
pid = os.fork()
if pid == 0:
    os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
try:
    subprocess.run(['sleep', '60'], timeout=0.01)
except subprocess.TimeoutExpired as error:
    print(error.cmd)
subprocess.run(['false'], check=True)
