/** `breakwater COMMAND`: each command is a program of this tree; `breakwater --help` lists them. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { projectFolder } from './launch/settings.ts';

const commands: Record<string, { file: string; verb?: string; about: string }> = {
  start: { file: 'bin/launch.ts', about: 'everything on this machine, as `npm start` does' },
  server: { file: 'server/src/main.ts', about: 'the control plane: --services=api,work,ingest,bus' },
  agent: { file: 'agent/src/main.ts', about: 'the daemon of an edge node' },
  migrate: { file: 'bin/migrate.ts', about: 'bring the schema of DATABASE_URL up to date' },
  account: { file: 'bin/account.ts', about: 'list accounts, let in who lost a password or a second factor, or is locked out' },
  backup: { file: 'bin/backup.ts', verb: 'backup', about: 'write everything into one file, while everything runs' },
  restore: { file: 'bin/backup.ts', verb: 'restore', about: 'make a data folder out of a backup or a snapshot' },
  snapshot: { file: 'bin/backup.ts', verb: 'snapshot', about: 'a quick backup into the data folder, before an upgrade' },
  'bus-config': { file: 'bin/bus-config.ts', about: 'keys and configuration for a NATS of your own, one server or a cluster' },
  openapi: { file: 'bin/openapi.ts', about: 'write openapi.json from the contract' },
  doctor: { file: 'bin/doctor.ts', about: 'check packages, ports, disk and engines of this machine' },
};

const [name, ...args] = process.argv.slice(2);
const present = Object.entries(commands).filter(([, { file }]) => existsSync(join(projectFolder, file)));

if (name === undefined || name === '--help' || name === '-h') {
  console.log(`breakwater COMMAND …\n\n${present.map(([command, { about }]) => `  ${command.padEnd(12)}${about}`).join('\n')}`);
  process.exit(name === undefined ? 1 : 0);
}
const command = present.find(([known]) => known === name)?.[1];
if (!command) {
  console.error(`There is no command "${name}". \`breakwater --help\` lists what there is.`);
  process.exit(1);
}
const child = spawn(process.execPath, [join(projectFolder, command.file), ...(command.verb ? [command.verb] : []), ...args], {
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
