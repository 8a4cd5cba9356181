/** Certificates of a test's own, made by openssl. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { testFolder } from './engines.ts';

/** An authority and a certificate of it for `bus.test` and the loopback address. */
export function certificates() {
  const dir = testFolder('tls');
  const run = (line: string) => execFileSync('openssl', line.split(' '), { cwd: dir, stdio: 'ignore' });
  run('req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority');
  run(
    'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out csr.pem -subj /CN=bus.test -addext subjectAltName=DNS:bus.test,IP:127.0.0.1',
  );
  run('x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 2 -copy_extensions copyall');
  return { cert: `${dir}/cert.pem`, key: `${dir}/key.pem`, caFile: `${dir}/ca.pem`, ca: readFileSync(`${dir}/ca.pem`, 'utf8') };
}
