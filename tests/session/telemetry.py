# SPDX-License-Identifier: MIT
"""telemetry.py LAZARET PART PAGE - what a scraper reads of `lazaret serve`, and what a collector of traces gets.

The collector is a server of HTTP in this process; what it gets is compared with the JSON form of OTLP
(opentelemetry-proto), what the scraper reads with the text format 0.0.4 of Prometheus, to the letter.
"""
import http.client
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

lazaret = sys.argv[1]
cases = 0
failures = 0
TRACE = '0af7651916cd43dd8448eb211c80319c'
CALLER = 'b7ad6b7169203331'


def check(name, holds, told=''):
    global cases, failures
    cases += 1
    if not holds:
        failures += 1
        print('FAILED %s: %s' % (name, told))


class Server:
    """A `lazaret serve` on pipes, whose tools this process answers."""

    def __init__(self, *options, prefix=()):
        self.process = subprocess.Popen([*prefix, lazaret, 'serve', '--runtime', 'lua', *options], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.last = 0
        self.parents = []
        self.place = None
        if '--metrics' in options:
            line = self.process.stderr.readline()
            found = re.fullmatch(r'lazaret: metrics at http://(127\.0\.0\.1|localhost|\[::1\]):(\d+)/metrics\n', line)
            assert found, line
            self.place = ('::1' if '::1' in line else '127.0.0.1', int(found.group(2)))
        assert json.loads(self.process.stdout.readline())['type'] == 'hello'

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + '\n')
        self.process.stdin.flush()

    def ask(self, kind, **members):
        self.last += 1
        self.send({'type': kind, 'id': self.last, **members})
        while True:
            line = json.loads(self.process.stdout.readline())
            if line['type'] == 'tool_call':
                if line['tool'] == 'fail':
                    self.send({'type': 'answer', 'call': line['call'], 'error': 'no'})
                else:
                    self.send({'type': 'answer', 'call': line['call'], 'value': 5})
            elif line['type'] == 'approval':
                self.send({'type': 'answer', 'call': line['call'], 'value': False})
            elif line.get('id') == self.last:
                return line

    def tools(self):
        self.ask('tools', tools=[{'name': 'add', 'parameters': []}, {'name': 'fail', 'parameters': []},
                                 {'name': 'erase', 'parameters': [], 'approve': True}])

    def request(self, method='GET', path='/metrics', host=None):
        connection = http.client.HTTPConnection(*self.place)
        connection.request(method, path, headers={'Host': host} if host else {})
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body, answer

    def values(self):
        return parse(self.request()[1])

    def end(self):
        self.process.stdin.close()
        told = self.process.stderr.read()
        return self.process.wait(), told


# ---- the text format of Prometheus ---------------------------------------------------------------

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"'
SAMPLE = re.compile(r'(%s)(?:\{((?:%s)(?:,%s)*)\})? (-?[0-9]+(?:\.[0-9]+)?)' % (NAME, LABEL, LABEL))


def parse(text):
    """The samples by name and labels; an assertion fails where the text is not of the format."""
    assert text.endswith('\n') and '\n\n' not in text
    helped, types, samples, family = set(), {}, {}, None
    for line in text.splitlines():
        if line.startswith('# HELP '):
            name = re.fullmatch(r'# HELP (%s) [^\\]+' % NAME, line).group(1)
            assert name not in helped, line
            helped.add(name)
            family = name
        elif line.startswith('# TYPE '):
            name, kind = re.fullmatch(r'# TYPE (%s) (counter|gauge|histogram)' % NAME, line).groups()
            assert name == family and name not in types, line
            assert (kind == 'counter') == name.endswith('_total'), line
            types[name] = kind
        else:
            found = SAMPLE.fullmatch(line)
            assert found, line
            name, labels = found.group(1), dict(re.findall(LABEL, found.group(2) or ''))
            base = re.sub(r'_(bucket|sum|count)$', '', name) if types[family] == 'histogram' else name
            assert base == family and family in types, line
            key = (name, *sorted(labels.items()))
            assert key not in samples, line
            samples[key] = float(found.group(found.lastindex))
    for name, kind in types.items():
        if kind == 'histogram':
            check_histogram(name, samples)
    return samples


def check_histogram(name, samples):
    series = {}
    for key, value in samples.items():
        if key[0] == name + '_bucket':
            labels = tuple(pair for pair in key[1:] if pair[0] != 'le')
            series.setdefault(labels, []).append((dict(key[1:])['le'], value))
    assert series, name
    for labels, buckets in series.items():
        bounds = [float(bound) for bound, _ in buckets]
        counts = [count for _, count in buckets]
        assert bounds == sorted(bounds) and buckets[-1][0] == '+Inf', name
        assert counts == sorted(counts), name
        assert counts[-1] == samples[(name + '_count', *labels)], name
        assert samples[(name + '_sum', *labels)] >= 0


def value(samples, name, **labels):
    return samples[(name, *sorted(labels.items()))]


def metrics():
    for text in ('a 1\n', '# HELP a b\n# TYPE a gauge\na 1\na 2\n', '# HELP a b\n# TYPE a gauge\na{b="\\x"} 1\n',
                 '# HELP a_total b\n# TYPE a_total counter\na_total one\n', '# HELP a b\n# TYPE b gauge\nb 1\n'):
        try:
            parse(text)
            check('the_parser_is_strict', False, text)
        except (AssertionError, AttributeError, KeyError):
            check('the_parser_is_strict', True)

    server = Server('--metrics', '127.0.0.1:0')
    server.tools()
    server.ask('execute', code='return add()')
    server.ask('execute', code='pcall(fail) pcall(erase) error(1)')
    server.ask('open')
    status, text, answer = server.request()
    check('metrics_are_read', status == 200 and
          answer.headers['Content-Type'] == 'text/plain; version=0.0.4; charset=utf-8', answer.headers)
    seen = parse(text)
    check('executions_are_counted', value(seen, 'lazaret_executions_total', verdict='ok') == 1 and
          value(seen, 'lazaret_executions_total', verdict='error') == 1, text)
    check('calls_are_counted', [value(seen, 'lazaret_tool_calls_total', outcome=word)
                                for word in ('ok', 'error', 'refused', 'timeout', 'cancelled')] == [1, 1, 1, 0, 0], text)
    check('times_are_counted', value(seen, 'lazaret_execution_seconds_count') == 2, text)
    check('sessions_are_shown', value(seen, 'lazaret_clients') == 1 and
          value(seen, 'lazaret_sessions', state='executing') == 0, text)
    check('the_process_is_shown', value(seen, 'process_resident_memory_bytes') > 1e6 and
          abs(value(seen, 'process_start_time_seconds') - time.time()) < 86400, text)
    check('no_text_of_others_is_shown', 'add' not in re.sub(r'(?m)^#.*$', '', text).replace('address', ''), text)
    rows = re.findall(r'(?m)^\| `([a-z_]+)` \| (gauge|counter|histogram) \| (?:`([a-z]+)`)?', open(sys.argv[3]).read())
    check('the_page_has_each', sorted((name, kind) for name, kind, _ in rows) ==
          sorted(re.findall(r'(?m)^# TYPE (\S+) (\S+)$', text)), rows)
    for name, kind, label in rows:
        check('the_page_has_its_label', {pair[0] for key in seen if re.sub(r'_(bucket|sum|count)$', '', key[0]) == name
                                         or key[0] == name for pair in key[1:]} - {'le'} <= {label}, (name, label))
    check('it_is_well', server.request(path='/healthz')[:2] == (200, 'ok\n'))
    check('head', server.request('HEAD')[:2] == (200, ''))
    check('other_methods', [server.request(method)[0] for method in ('POST', 'PUT', 'DELETE', 'OPTIONS', 'x')] == [405] * 5)
    check('other_paths', [server.request(path=path)[0] for path in
                          ('/', '/metrics/', '/metricsx', '/../metrics', '//metrics')] == [404] * 5)
    check('names_of_this_machine', [server.request(host=host)[0] for host in
                                    ('localhost', 'localhost:80', '127.0.0.1', '[::1]:9')] == [200] * 4)
    check('names_of_others', [server.request(host=host)[0] for host in
                              ('evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'a:80')] == [403] * 4)
    hostile(server)
    check('it_ends', server.end()[0] == 0)

    for place in ('[::1]:0', 'localhost:0', '0'):
        try:
            server = Server('--metrics', place)
        except AssertionError as why:  # a machine without IPv6
            check('places', '::1' in place and 'cannot listen' in str(why), why)
            continue
        check('places', server.request()[0] == 200, place)
        server.end()
    for place in ('nonsense', '127.0.0.1:70000', '8.8.8.8.8:1', 'example.com:1', '192.0.2.1:0'):
        done = subprocess.run([lazaret, 'serve', '--metrics', place], input='', capture_output=True, text=True)
        check('wrong_places', done.returncode != 0 and ('telemetry.listen' in done.stderr or '--metrics' in done.stderr),
              '%s: %s' % (place, done.stderr))


def hostile(server):
    """Clients that are slow, many, large: others are answered nevertheless."""
    slow = []
    for _ in range(200):
        one = socket.create_connection(server.place)
        one.sendall(b'GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ')
        slow.append(one)
        if len(slow) % 50 == 0:
            check('slow_clients_keep_nobody_out', server.request()[0] == 200)
    check('descriptors_are_bounded', value(server.values(), 'process_open_fds') < 200)
    for one in slow:
        one.close()
    large = socket.create_connection(server.place)
    try:
        large.sendall(b'GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ' + b'a' * 100000 + b'\r\n\r\n')
        answer = large.recv(100)
    except OSError:
        answer = b''
    check('large_headers_are_refused', answer == b'' or re.match(rb'HTTP/1.1 4\d\d', answer), answer)
    for rubbish in (b'\0' * 100, b'GET\r\n\r\n', b'GET /metrics HTTP/9.9\r\n\r\n', b'\r\n' * 1000,
                    b'POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n'):
        one = socket.create_connection(server.place)
        one.sendall(rubbish)
        one.settimeout(1)  # what is no request yet may become one, for thirty seconds
        try:
            answer = one.recv(4096)
        except OSError:
            answer = b''
        check('rubbish_is_refused', b' 200 ' not in answer.split(b'\r\n')[0], answer)
        one.close()
    check('others_are_answered', server.request()[0] == 200)


# ---- a collector ---------------------------------------------------------------------------------

class Collector:
    """Keeps the requests that it gets, and answers as `answers` says, the last one for ever."""

    def __init__(self, answers=(200,), waits=None):
        self.requests = []
        self.answers = list(answers)
        self.got = threading.Condition()
        self.waits = waits
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                with outer.got:
                    status = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                    outer.requests.append((self.path, dict(self.headers), body, status))
                    outer.got.notify_all()
                if outer.waits:
                    outer.waits.wait()
                more = {}
                if isinstance(status, tuple):
                    status, more = status[0], dict(status[1])
                text = more.pop('body', '{}').encode()
                try:
                    self.send_response(status)
                    self.send_header('Content-Type', 'application/json')
                    self.send_header('Content-Length', str(len(text)))
                    for name, header in more.items():
                        self.send_header(name, header)
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # who hangs up is no news
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = 'http://127.0.0.1:%d' % self.server.server_address[1]

    def await_requests(self, n):
        with self.got:
            while len(self.requests) < n:
                self.got.wait()

    def spans(self):
        """All spans of accepted requests; an assertion fails where a request is not of OTLP."""
        return [span for _, _, body, status in self.requests
                if status == 200 or isinstance(status, tuple) and status[0] == 200
                for span in request_spans(body)]


def members(thing, needed, optional=()):
    assert set(needed) <= set(thing) <= set(needed) | set(optional), thing


def attributes(items):
    found = {}
    for item in items:
        members(item, ('key', 'value'))
        (kind, content), = item['value'].items()
        if kind == 'intValue':
            assert isinstance(content, str) and re.fullmatch(r'-?\d+', content), item
            content = int(content)
        else:
            assert isinstance(content, {'stringValue': str, 'doubleValue': float, 'boolValue': bool}[kind]), item
        assert item['key'] not in found, item
        found[item['key']] = content
    return found


def request_spans(body):
    request = json.loads(body)
    members(request, ('resourceSpans',))
    spans = []
    for resource in request['resourceSpans']:
        members(resource, ('resource', 'scopeSpans'))
        members(resource['resource'], ('attributes',))
        about = attributes(resource['resource']['attributes'])
        assert set(about) == {'service.name', 'service.version'}, about
        for scope in resource['scopeSpans']:
            members(scope, ('scope', 'spans'))
            members(scope['scope'], ('name', 'version'))
            for span in scope['spans']:
                members(span, ('traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano',
                               'attributes', 'status', 'flags'), ('parentSpanId', 'traceState'))
                assert re.fullmatch('[0-9a-f]{32}', span['traceId']) and set(span['traceId']) != {'0'}, span
                assert re.fullmatch('[0-9a-f]{16}', span['spanId']) and set(span['spanId']) != {'0'}, span
                assert re.fullmatch('[0-9a-f]{16}', span.get('parentSpanId', '0' * 16)), span
                assert span['kind'] == 1 and re.fullmatch(r'\d+', span['startTimeUnixNano']), span
                assert int(span['startTimeUnixNano']) <= int(span['endTimeUnixNano']), span
                members(span['status'], (), ('code', 'message'))
                assert span['status'].get('code', 2) == 2, span
                span['service'] = about['service.name']
                span['about'] = attributes(span['attributes'])
                spans.append(span)
    return spans


def traces():
    collector = Collector()
    audit = os.path.join(os.environ['HOME'], 'audit.jsonl')
    began = time.time_ns()
    server = Server('--metrics', '127.0.0.1:0', '--set', 'telemetry.endpoint="%s/"' % collector.url, '--set',
                    'telemetry.headers={ Authorization = "Bearer xyz" }', '--set', 'telemetry.service="tested"',
                    '--set', 'audit.file="%s"' % audit)
    server.tools()
    secret = 'local secret = "s3cr3t" print(secret) '
    server.ask('execute', code=secret + 'add() return pcall(fail)', traceparent='00-%s-%s-01' % (TRACE, CALLER),
               tracestate='a=1')
    server.ask('execute', code='error("s3cr3t")')
    server.ask('execute', code='return add()', traceparent='00-%s-%s-00' % (TRACE, CALLER))  # it is not sampled
    server.ask('execute', code='return add()', traceparent='rubbish', tracestate='=')
    server.ask('execute', code='return pcall(erase)', approve=True, traceparent='01-%s-%s-01-more' % (TRACE, CALLER))
    status, told = server.end()
    check('it_ends', (status, told) == (0, ''), told)
    spans = collector.spans()
    check('each_has_a_span', [span['name'] for span in spans if span['name'] == 'execute'] == ['execute'] * 4 and
          len(spans) == 8, [span['name'] for span in spans])
    by_id = {span['spanId']: span for span in spans}
    check('ids_differ', len(by_id) == len(spans))
    executes = [span for span in spans if span['name'] == 'execute']
    first, failed, alone, approved = executes
    check('the_trace_is_that_of_the_caller', (first['traceId'], first['parentSpanId'], first['traceState']) ==
          (TRACE, CALLER, 'a=1') and first['flags'] == 0x301, first)
    check('without_a_caller_a_trace_begins', failed['traceId'] != TRACE and 'parentSpanId' not in failed and
          failed['flags'] == 0x101, failed)
    check('a_broken_trace_is_ignored', alone['traceId'] != TRACE and 'parentSpanId' not in alone, alone)
    check('later_versions_are_read', approved['traceId'] == TRACE and approved['parentSpanId'] == CALLER, approved)
    tools = [span for span in spans if span['name'] != 'execute']
    check('calls_are_inside', all(by_id[span['parentSpanId']]['traceId'] == span['traceId'] and
                                  span['flags'] == 0x101 for span in tools), tools)
    check('calls_have_names_and_outcomes', [(span['name'], span['about']['lazaret.outcome'],
                                             span['status'].get('message')) for span in tools] ==
          [('tool add', 'ok', None), ('tool fail', 'error', 'error'), ('tool add', 'ok', None),
           ('tool erase', 'refused', 'refused')], tools)
    check('times_are_in_order', all(began <= int(span['startTimeUnixNano']) <= int(span['endTimeUnixNano']) <=
                                    time.time_ns() for span in spans), spans)
    check('calls_are_in_the_time_of_their_execution',
          all(int(by_id[span['parentSpanId']]['startTimeUnixNano']) <= int(span['startTimeUnixNano']) and
              int(span['endTimeUnixNano']) <= int(by_id[span['parentSpanId']]['endTimeUnixNano']) + 10000
              for span in tools), spans)
    about = first['about']
    check('attributes', (about['lazaret.verdict'], about['lazaret.runtime'], about['lazaret.tool_calls']) ==
          ('ok', 'lua', 2) and about['lazaret.max_rss_bytes'] > 0 and about['lazaret.cpu_seconds'] >= 0 and
          re.fullmatch('[A-Za-z0-9]{16}', about['lazaret.session']), about)
    check('status', first['status'] == {} and failed['status'] == {'message': 'error', 'code': 2}, failed)
    path, headers, _, _ = collector.requests[0]
    check('the_request', path == '/v1/traces' and headers['Content-Type'] == 'application/json' and
          headers['Authorization'] == 'Bearer xyz' and spans[0]['service'] == 'tested', headers)
    check('nothing_of_the_code_is_sent', not any(b's3cr3t' in body for _, _, body, _ in collector.requests))
    records = [json.loads(line) for line in open(audit)]
    told = {record['traceparent'] for record in records if record['event'] == 'execute_complete' and 'traceparent' in record}
    check('the_audit_log_has_the_span', '00-%s-%s-01' % (TRACE, first['spanId']) in told, told)
    told = [record['traceparent'] for record in records if record['event'] in ('tool_call', 'tool_result')]
    check('so_do_calls', '00-%s-%s-01' % (TRACE, tools[0]['spanId']) in told and
          '00-%s-%s-00' % (TRACE, CALLER) in told, told)

    done = subprocess.run([lazaret, 'config', '--set', 'telemetry.headers={ Authorization = "Bearer xyz" }'],
                          capture_output=True, text=True)
    check('headers_are_secret', done.returncode == 0 and 'xyz' not in done.stdout, done.stdout)
    for wrong in ('telemetry.endpoint="ftp://x"', 'telemetry.endpoint="http://"', 'telemetry.endpoint="http://a b"',
                  'telemetry.headers={ "a b" = "c" }', 'telemetry.headers={ a = "b\\nc" }', 'telemetry.headers="a"',
                  'telemetry.service=""', 'telemetry.listen="x"'):
        done = subprocess.run([lazaret, 'serve', '--set', wrong], input='', capture_output=True, text=True)
        check('wrong_settings', done.returncode == 2 and wrong.split('=')[0] in done.stderr, done.stderr)


def one_command(url):
    """`lazaret run` is an engine as well."""
    return subprocess.run([lazaret, 'run', '--runtime', 'lua', '--set', 'telemetry.endpoint="%s"' % url, '-e', 'print(6 * 7)'],
                          capture_output=True, text=True)


def failing():
    collector = Collector()
    done = one_command(collector.url)
    check('every_engine_sends_spans', (done.returncode, done.stdout, done.stderr) == (0, '42\n', '') and
          [span['name'] for span in collector.spans()] == ['execute'], done)

    # It asks for patience, and gets the same again.
    collector = Collector([(503, {'Retry-After': '1'}), (429, {'Retry-After': '1'}), 200])
    server = Server('--metrics', '0', '--set', 'telemetry.endpoint="%s"' % collector.url)
    server.ask('execute', code='return 1')
    collector.await_requests(3)
    check('what_passes_is_sent_again', len({body for _, _, body, _ in collector.requests}) == 1)
    while value(server.values(), 'lazaret_spans_total', outcome='sent') != 1:
        time.sleep(0.05)
    check('it_ends', server.end() == (0, ''))

    # What is wrong stays wrong; some may be rejected.
    for answer, sent, failed in ((400, 0, 2), ((200, {'body': '{"partialSuccess":{"rejectedSpans":"1"}}'}), 1, 1),
                                 ((200, {'body': 'rubbish'}), 2, 0), ((200, {'body': 'x' * 1000000}), 0, 0),
                                 ((302, {'Location': 'http://127.0.0.1:1/'}), 0, 2)):
        collector = Collector([answer])
        server = Server('--metrics', '0', '--set', 'telemetry.endpoint="%s"' % collector.url)
        server.tools()
        server.ask('execute', code='return add()')
        collector.await_requests(1)
        if sent + failed:
            while True:
                seen = server.values()
                counts = [value(seen, 'lazaret_spans_total', outcome=word) for word in ('sent', 'failed', 'dropped')]
                if sum(counts):
                    break
                time.sleep(0.05)
            check('answers_are_counted', counts == [sent, failed, 0], '%s: %s' % (answer, counts))
        status, told = server.end()
        check('it_says_what_was_lost', status == 0 and ('spans of traces were not delivered' in told) == (not sent or failed),
              told)
        check('it_is_not_asked_again', len(collector.requests) == 1 or not sent + failed, len(collector.requests))

    # One that does not answer: executions go on, what finds no room is dropped, the end does not wait for it.
    never = threading.Event()
    collector = Collector(waits=never)
    server = Server('--metrics', '0', '--set', 'telemetry.endpoint="%s"' % collector.url)
    server.tools()
    server.ask('open')
    last = None
    for _ in range(12):
        last = server.ask('execute', session=1, code='for i = 1, 450 do add() end return "done"')
    check('executions_go_on', last.get('result', {}).get('value') == 'done', last)
    collector.await_requests(1)
    seen = server.values()
    dropped = value(seen, 'lazaret_spans_total', outcome='dropped')
    check('what_finds_no_room_is_dropped', dropped >= 12 * 451 - 4096 - 512 and
          value(seen, 'lazaret_spans_total', outcome='sent') == 0, dropped)
    check('it_is_well_nevertheless', server.request(path='/healthz')[0] == 200)
    status, told = server.end()
    check('the_end_does_not_wait', status == 0 and '%d spans of traces were not delivered' % (12 * 451) in told, told)
    never.set()

    # Nobody is there.
    nobody = socket.socket()
    nobody.bind(('127.0.0.1', 0))
    done = one_command('http://127.0.0.1:%d' % nobody.getsockname()[1])
    check('nobody_is_there', done.returncode == 0 and done.stdout == '42\n' and
          '1 spans of traces were not delivered' in done.stderr and done.stderr.count('\n') == 1, done.stderr)


def off():
    """Without settings there is no thread, and no library."""
    server = Server()
    server.ask('execute', code='return 1')
    pid = server.process.pid
    maps = open('/proc/%d/maps' % pid).read()
    check('no_library_is_loaded', 'curl' not in maps and 'microhttpd' not in maps)
    names = [open('/proc/%d/task/%s/comm' % (pid, task)).read() for task in os.listdir('/proc/%d/task' % pid)]
    plain = len(names)
    server.end()
    collector = Collector()
    server = Server('--set', 'telemetry.endpoint="%s"' % collector.url)
    server.ask('execute', code='return 1')
    check('one_thread_is_there_when_it_is_on', len(os.listdir('/proc/%d/task' % server.process.pid)) == plain + 1, plain)
    server.end()


{'metrics': metrics, 'traces': traces, 'failing': failing, 'off': off}[sys.argv[2]]()
print('%d of %d cases have failed' % (failures, cases))
sys.exit(failures != 0)
