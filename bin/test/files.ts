/** Which test files there are, in the order in which they are worth running: the fast and general first. */
import { globSync } from 'node:fs';
import { projectFolder } from '../launch/settings.ts';

export interface Phase {
  name: 'unit' | 'integration' | 'system' | 'browser';
  files: string[];
  /** A file that runs longer is killed, s. It is there for what hangs: about three times what the slowest file needs on a loaded machine. */
  limit: number;
}

/** What takes longest begins first: a run ends when its last file does. Measured, by kind; what is not named is about equally long. */
const long = [
  ...['guards/audited', 'guards/largest-bodies', 'guards/isolation-operator'],
  ...['system/backup', 'system/faults-files', 'system/launcher'],
  ...['browser/weight', 'browser/pages', 'browser/sign-in', 'browser/forms', 'browser/gallery', 'browser/console'],
];
const beginsFirst = (file: string) => {
  const at = long.findIndex(name => file.includes(name));
  return at < 0 ? long.length : at;
};

/**
 * Unit tests and guards need no engine: contract, pure code of the others.
 * Integration tests stand in `<folder>/test`, tests of the whole in `system/`, browser tests in `system/browser/`.
 */
export function phases(): Phase[] {
  const all = globSync('{contract,server,console,agent,host,edge,system,bin}/**/*.test.ts', {
    cwd: projectFolder,
    exclude: path => path.includes('node_modules') || path.includes('console/dist'),
  })
    .sort()
    .sort((a, b) => beginsFirst(a) - beginsFirst(b));
  const named = (name: Phase['name'], limit: number, belongs: (file: string) => boolean): Phase => ({
    name,
    limit,
    files: all.filter(belongs),
  });
  const isUnit = (file: string) =>
    /^(contract|console|host)\/|^(bin\/(?:launch|test)|server\/src|agent\/src)\/|^server\/test\/compile\//.test(file);
  const isSystem = (file: string) => file.startsWith('system/');
  const isBrowser = (file: string) => file.startsWith('system/browser/');
  return [
    named('unit', 180, isUnit),
    named('integration', 420, file => !isUnit(file) && !isSystem(file)),
    named('system', 900, file => isSystem(file) && !isBrowser(file)),
    named('browser', 1800, isBrowser),
  ];
}
