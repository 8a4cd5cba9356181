/**
 * What makes the documents of the same rows differ: the text of compilers and schemas, and of every file of the contract that they read.
 * Nobody has to think of raising a number.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const here = new URL('./', import.meta.url);
const contract = new URL('../../../contract/src/', import.meta.url);

function filesRead(): URL[] {
  const found = new Map<string, URL>();
  const waiting = [here, new URL('edge/', contract)].flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => new URL(name, folder)),
  );
  for (let file; (file = waiting.pop());) {
    if (!file.pathname.endsWith('.ts') || found.has(file.href)) continue;
    if (!file.href.startsWith(contract.href) && !file.href.startsWith(here.href)) continue;
    found.set(file.href, file);
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/ from '((?:\.|#contract\/)[^']+)'/g))
      waiting.push(name!.startsWith('#') ? new URL(name!.slice('#contract/'.length), contract) : new URL(name!, file));
  }
  return [...found.keys()].sort().map(name => found.get(name)!);
}

export const compilerMark: string = (() => {
  const hash = createHash('sha256');
  for (const file of filesRead()) hash.update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 32);
})();
