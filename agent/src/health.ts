/** /healthz, /readyz and /metrics of the agent, on loopback. */
import http from 'node:http';
import { type Check, sentenceOf, weightOf, worst } from '#contract/system/health.ts';

export interface HealthReport {
  /** why the node does not serve as it should; empty: it does */
  problems: string[];
  /** all a node looks at; some of it fails while visitors are served */
  checks: Check[];
  /** Prometheus samples: name → value */
  gauges: Record<string, number>;
}

/** @throws when the port is taken */
export async function serveHealth(port: number, report: () => HealthReport): Promise<{ port: number; close(): Promise<void> }> {
  const server = http.createServer((request, answer) => {
    const { problems, checks, gauges } = report();
    const wrong = problems.length > 0;
    const send = (status: number, type: string, body: string) => answer.writeHead(status, { 'content-type': type }).end(body);
    switch (request.url) {
      case '/healthz':
        return send(200, 'application/json', '{"ok":true}\n');
      case '/readyz':
        return send(wrong ? 503 : 200, 'application/json', `${JSON.stringify({ ok: !wrong, problems })}\n`);
      case '/readyz?verbose': {
        const said = checks.map(check => ({ ...check, sentence: sentenceOf(check, 'en_US') }));
        const answer = { ready: !wrong, state: worst(checks), problems, checks: said };
        return send(wrong ? 503 : 200, 'application/json', `${JSON.stringify(answer)}\n`);
      }
      case '/metrics': {
        const lines = Object.entries(gauges).map(
          ([name, value]) => `# TYPE breakwater_${name} gauge\nbreakwater_${name} ${value}`,
        );
        const states = checks.map(({ id, key = '', state }) => `breakwater_check{check="${id}",key="${key}"} ${weightOf(state)}`);
        const text = [...lines, '# TYPE breakwater_check gauge', ...states].join('\n');
        return send(200, 'text/plain; version=0.0.4', `${text}\n`);
      }
      default:
        return send(404, 'text/plain', 'not found\n');
    }
  });
  await new Promise<void>((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program has it: end it, or choose another with --health' : error.message;
      fail(new Error(`the agent's port ${port} cannot be used: ${why}`, { cause: error }));
    });
    server.listen(port, '127.0.0.1', done);
  });
  server.unref();
  return {
    port: (server.address() as { port: number }).port,
    close: () =>
      new Promise(done => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
