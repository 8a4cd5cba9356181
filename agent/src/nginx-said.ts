/** What nginx writes, and does not answer, when it does not run. */
import { execFile } from 'node:child_process';

/** nginx tries several times, and its last word names no port: the one of its last start that another program has. */
export function takenPort(said: string): string | undefined {
  if (!/still could not bind\(\)\s*$|bind\(\) to \S+ failed \(98[^\n]*\s*$/.test(said.trim())) return undefined;
  return /.*bind\(\) to (\S+) failed \(98/s.exec(said)?.[1]!.split(':').at(-1);
}

/** The last line that says what is wrong, without where and when it was said. */
export function lastError(text: string): string | undefined {
  const line = text
    .trim()
    .split('\n')
    .filter(one => /\[(emerg|alert|crit|error)\]/.test(one))
    .at(-1);
  return line?.replace(/^.*?\[(emerg|alert|crit|error)\]\s*(\d+#\d+:)?\s*/, '').slice(0, 300);
}

/** Nobody listens on its socket. */
export const isAbsent = (error: unknown): boolean =>
  ['ENOENT', 'ECONNREFUSED'].includes((error as NodeJS.ErrnoException).code ?? '');

/** @param parameters where it works, and the configuration it is to test. @throws what `nginx -t` says about it */
export function testConfig(parameters: readonly string[], cwd: string): Promise<void> {
  return new Promise((done, fail) =>
    execFile('nginx', [...parameters, '-t', '-q'], { cwd, timeout: 60_000 }, (error, out, err) => {
      if (!error) return done();
      const missing = 'run `apt-get install nginx libnginx-mod-http-lua libnginx-mod-http-brotli-filter` as root';
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return fail(new Error(`the program nginx is missing: ${missing}`));
      fail(new Error(`nginx refuses its configuration: ${lastError(err || out) ?? error.message}`));
    }),
  );
}
