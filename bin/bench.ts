/** `npm run bench -- NAME`: runs system/bench/NAME.ts; without a name it lists what there is. A benchmark prints its two sides and their ratio. */
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectFolder } from './launch/settings.ts';

const folder = join(projectFolder, 'system/bench');
const names = globSync('*.ts', { cwd: folder })
  .map(file => basename(file, '.ts'))
  .filter(name => !name.startsWith('_'))
  .sort();
const [name, ...args] = process.argv.slice(2);

if (name === undefined) {
  console.log(
    names.length === 0 ? 'There is no benchmark yet.' : `npm run bench -- NAME\n\n${names.map(one => `  ${one}`).join('\n')}`,
  );
} else if (!names.includes(name)) {
  console.error(`There is no benchmark "${name}". There are: ${names.join(', ') || 'none yet'}.`);
  process.exit(1);
} else {
  const { run } = (await import(pathToFileURL(join(folder, `${name}.ts`)).href)) as { run: (args: string[]) => Promise<void> };
  await run(args);
  process.exit(0); // engines of the benchmark end with this process
}
