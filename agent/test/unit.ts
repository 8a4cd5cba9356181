/** The units that a join line writes, and what one of them lets its processes do. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const script = new URL('../../server/src/services/join.sh', import.meta.url).pathname;
export const units = ['breakwater-node.service', 'breakwater-node-placer.service', 'breakwater-node-placer.path'] as const;

/** Writes them as the line does. @returns their texts, by name */
export function writeUnits(
  folder: string,
  { prefix, data }: { prefix: string; data: string },
): Record<(typeof units)[number], string> {
  mkdirSync(folder, { recursive: true });
  const lines = readFileSync(script, 'utf8').replace(/^main "\$@"$/m, 'prefix=$1 data=$2; write_units "$3"');
  execFileSync('sh', ['-euc', lines, 'sh', prefix, data, folder]);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return Object.fromEntries(units.map(name => [name, read(name)])) as Record<(typeof units)[number], string>;
}

/** System calls of a set (systemd.exec(5)), with those of the sets in it. */
function callsOf(set: string): string[] {
  if (!set.startsWith('@')) return [set];
  const said = execFileSync('systemd-analyze', ['syscall-filter', set], { encoding: 'utf8' });
  return said.split('\n').flatMap(line => (/^ {4}[@\w]/.test(line) ? callsOf(line.trim()) : []));
}

/** What a unit's lines `SystemCallFilter=` let, as systemd reads them one after the other. */
export function allowedCalls(unit: string): Set<string> {
  const allowed = new Set<string>();
  for (const [, not, names] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm))
    for (const name of names!.split(' ').flatMap(callsOf))
      if (not) allowed.delete(name);
      else allowed.add(name);
  return allowed;
}

/** seccomp(2) as systemd sets it: what is not let fails with EPERM. Arguments: names, a program and its words. */
const filter = String.raw`
  require "syscall.ph";
  my ($names, @command) = @ARGV;
  my $one = sub { pack("SCCL", @_) };
  my $program = $one->(0x20, 0, 0, 4) . $one->(0x15, 1, 0, 0xC000003E) . $one->(0x06, 0, 0, 0) . $one->(0x20, 0, 0, 0);
  for my $name (split /,/, $names) {
    my $number = "SYS_$name";
    $program .= $one->(0x15, 0, 1, &$number()) . $one->(0x06, 0, 0, 0x7fff0000) if defined &$number;
  }
  $program .= $one->(0x06, 0, 0, 0x00050001);
  my $given = pack("S x6 P", length($program) / 8, $program);
  syscall(&SYS_prctl, 38, 1, 0, 0, 0) == 0 && syscall(&SYS_prctl, 22, 2, $given) == 0 or die "no seccomp: $!";
  exec @command or die $!;
`;
/** What goes before a command that is to run under it. */
export function filtered(calls: Iterable<string>, folder: string): string[] {
  const file = join(folder, 'filter.pl');
  writeFileSync(file, filter, { mode: 0o644 });
  return ['perl', file, [...calls].join()];
}
/** Why that cannot be seen here. */
export function lacksFilter(folder: string): string | false {
  try {
    execFileSync('systemd-analyze', ['syscall-filter', '@default'], { stdio: 'ignore' });
    const [program, ...words] = filtered(callsOf('@system-service'), folder);
    execFileSync(program!, [...words, 'true'], { stdio: 'ignore' });
    return false;
  } catch (error) {
    return `takes systemd-analyze, perl with syscall.ph, and seccomp: ${(error as Error).message.split('\n')[0]}`;
  }
}
