/** Certificates of tests, made by openssl: a root, an authority below it, and what that issues. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { testFolder } from './engines.ts';

export interface Issued {
  /** PEM: the leaf alone */
  certificate: string;
  /** PEM: the leaf and the authority above it */
  chain: string;
  /** PEM, PKCS #8 */
  key: string;
}
export type KeyType = 'p256' | 'p384' | 'rsa2048' | 'rsa1024' | 'rsa4104' | 'ed25519';

const keyOptions: Record<KeyType, string[]> = {
  p256: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  p384: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  rsa2048: ['-newkey', 'rsa:2048'],
  rsa1024: ['-newkey', 'rsa:1024'],
  rsa4104: ['-newkey', 'rsa:4104'],
  ed25519: ['-newkey', 'ed25519'],
};

export function authority(name = 'Test') {
  const dir = testFolder('authority');
  const run = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  const read = (file: string) => readFileSync(`${dir}/${file}`, 'utf8');
  const root = ['-x509', ...keyOptions.p256, '-nodes', '-days', '3', '-subj', `/CN=${name} Root`];
  run('req', ...root, '-keyout', 'root.key', '-out', 'root.pem');
  run('req', ...keyOptions.p256, '-nodes', '-keyout', 'mid.key', '-out', 'mid.csr', '-subj', `/CN=${name} Authority`);
  writeFileSync(
    `${dir}/mid.ext`,
    'basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n',
  );
  const byRoot = ['-CA', 'root.pem', '-CAkey', 'root.key', '-CAcreateserial', '-days', '3', '-extfile', 'mid.ext'];
  run('x509', '-req', '-in', 'mid.csr', ...byRoot, '-out', 'mid.pem');
  let count = 0;
  return {
    /** PEM */
    root: read('root.pem'),
    rootFile: `${dir}/root.pem`,
    /** PEM: the authority between root and leaves */
    between: read('mid.pem'),
    /** @param days how long it is good from now on; `responder`: where OCSP answers; `usage`: what it is for */
    issue(names: readonly string[], type: KeyType = 'p256', days = 2, responder?: string, usage = 'serverAuth'): Issued {
      const file = `leaf${count++}`;
      run('req', ...keyOptions[type], '-nodes', '-keyout', `${file}.key`, '-out', `${file}.csr`, '-subj', '/CN=leaf');
      const extensions = [
        'basicConstraints=CA:FALSE',
        `extendedKeyUsage=${usage}`,
        'subjectKeyIdentifier=hash',
        'authorityKeyIdentifier=keyid',
      ];
      if (responder) extensions.push(`authorityInfoAccess=OCSP;URI:${responder}`);
      if (names.length) extensions.push(`subjectAltName=${names.map(one => `${isIP(one) ? 'IP' : 'DNS'}:${one}`).join(',')}`);
      writeFileSync(`${dir}/${file}.ext`, `${extensions.join('\n')}\n`);
      const byMid = ['-CA', 'mid.pem', '-CAkey', 'mid.key', '-CAcreateserial', '-days', String(days), '-extfile', `${file}.ext`];
      run('x509', '-req', '-in', `${file}.csr`, ...byMid, '-out', `${file}.pem`);
      const certificate = read(`${file}.pem`);
      return { certificate, chain: certificate + read('mid.pem'), key: read(`${file}.key`) };
    },
    /** What the authority between answers to a question of OCSP (DER). @param by who signs it: default the authority itself */
    answer(question: Buffer, { certificate }: Issued, state: 'V' | 'R' = 'V', minutes = 60, by?: Issued): Buffer {
      const file = `ocsp${count++}`;
      const { serialNumber } = new X509Certificate(certificate);
      writeFileSync(
        `${dir}/${file}.txt`,
        `${state}\t300101000000Z\t${state === 'R' ? '250101000000Z' : ''}\t${serialNumber}\tunknown\t/CN=leaf\n`,
      );
      writeFileSync(`${dir}/${file}.req`, question);
      if (by) {
        writeFileSync(`${dir}/${file}.pem`, by.certificate);
        writeFileSync(`${dir}/${file}.key`, by.key);
      }
      const signer = by
        ? ['-rsigner', `${file}.pem`, '-rkey', `${file}.key`]
        : ['-rsigner', 'mid.pem', '-rkey', 'mid.key', '-resp_no_certs'];
      const asked = ['-index', `${file}.txt`, '-CA', 'mid.pem', ...signer];
      run('ocsp', ...asked, '-nmin', String(minutes), '-reqin', `${file}.req`, '-respout', `${file}.res`);
      return readFileSync(`${dir}/${file}.res`);
    },
  };
}
export type Authority = ReturnType<typeof authority>;
