import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Who the workers are: Debian's web user or nobody; root itself when those may not enter our folders. */
export async function workerAccount(home: string): Promise<{ name: string; uid: number; gid: number }> {
  const root = { name: 'root', uid: 0, gid: 0 };
  for (let folder = home; ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return root;
    if (folder === dirname(folder)) break;
  }
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'));
  const found = accounts.find(([name]) => name === 'www-data') ?? accounts.find(([name]) => name === 'nobody');
  return found ? { name: found[0]!, uid: Number(found[2]), gid: Number(found[3]) } : root;
}
