/** What a node does for origins beside handing nginx their addresses: authorities that verify them, and questions how they are. */
import { join } from 'node:path';
import type { Control } from './control.ts';
import { OriginChecks } from './origin-checks.ts';
import { OriginMemory } from './origin-memory.ts';
import type { NameResolver } from './resolve.ts';
import type { Sync } from './sync.ts';
import { TrustFiles } from './trust-files.ts';

export class OriginSide {
  readonly trusts: TrustFiles;
  readonly checks: OriginChecks;

  /** @param configure gives nginx the configuration that is wanted now */
  constructor(
    sync: Sync,
    control: Control,
    resolver: NameResolver,
    home: string,
    configure: () => Promise<void>,
    log: (message: string) => void,
  ) {
    this.trusts = new TrustFiles({
      folder: join(home, 'trusts'),
      state: () => sync.state,
      configure,
      known: async () => (await control.brief()).trusts?.split(' ') ?? [],
      settled: keys => sync.again(keys),
      log,
    });
    this.checks = new OriginChecks({
      state: () => sync.state,
      addresses: resolver.addresses,
      tell: lists => control.down(lists),
      memory: new OriginMemory(join(home, 'origin-states.json')),
    });
  }

  /** nginx is up. */
  async up(): Promise<void> {
    this.checks.up();
    await this.trusts.up();
  }
}
