/** Debian packages that a version needs: a join line installs them, an upgrade does not. */
import { execFile } from 'node:child_process';

const askMs = 10_000;

/** @returns those of `names` that are not installed; none where the machine has no dpkg, which could tell */
export const missingPackages = (names: readonly string[]): Promise<string[]> =>
  new Promise(done => {
    if (!names.length) return done([]);
    const args = ['-W', '-f', '${db:Status-Status} ${Package}\\n', ...names];
    // it ends with 1 where it knows one of them not, and tells of the others all the same
    execFile('dpkg-query', args, { timeout: askMs }, (error, told) => {
      if (error && error.code !== 1) return done([]);
      const installed = new Set(told.split('\n').flatMap(line => /^installed (.+)$/.exec(line)?.[1] ?? []));
      done(names.filter(name => !installed.has(name)));
    });
  });
