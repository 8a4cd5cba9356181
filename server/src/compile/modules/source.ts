/** How what a module of one type holds comes out of its rows: one file of this folder where it is not its settings as they stand. */
import type { ModuleContent, ModuleTypeName } from '#contract/edge/modules/index.ts';

export interface ModuleSource<T extends ModuleTypeName, Rows = unknown> {
  /** SQL over the module `m`: jsonb of the rows that hang on it; absent: its settings are all there is */
  rows?: string;
  /** Pure. */
  compile(settings: Record<string, unknown>, rows: Rows): ModuleContent<T>;
}
