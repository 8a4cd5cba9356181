/** What a request changes, gathered while it does: for the audit row, the bus, and whoever changed the same row meanwhile. */
import type { DocumentKind } from '#contract/edge/kinds/index.ts';

type Row = Record<string, unknown>;
/** What one write changed, for the audit row. */
export interface Change {
  table: string;
  id: number;
  before?: Row;
  after?: Row;
  /** the row it is a part of, by its name in the audit */
  of?: string;
  /** where it is looked for when a line of the audit does not name it (`underName`); nowhere without */
  under?: string;
}
/** What a call changes of what is stored beside a row and belongs to it: origins of a domain, lines of a group. */
export interface Parts<R> {
  /** of the parts the call would change: by the field that wishes for it, what is there now */
  differing(before: R): Row | Promise<Row>;
  write(): Promise<void>;
}
/** What a request has changed so far. */
export interface Effects {
  /**
   * The call may write, so it runs in a transaction, and every row it looks up by its id stays as it was seen until the
   * end: of two such calls one waits before it checks anything. Order of the locks: the root account, the rows of the
   * path from the outermost in, then what the body names (context.ts, `holdRoot`; mount.ts).
   */
  holds: boolean;
  changes: Change[];
  /** edge documents to compile again: `kind:id` */
  documents: Map<string, { kind: DocumentKind; id: number }>;
  /** The version of the row that the caller saw, until it is compared with the row's own (stale.ts). */
  expected?: number | undefined;
  /** Rows whose parts may be written: those made by this call, and those whose version rises with their parts. */
  open: Set<string>;
  /** The version of the row whose parts were written: who goes on with them says this one. */
  version?: number;
}

/** Says that an edge document must be compiled again. */
export function touch(effects: Pick<Effects, 'documents'>, kind: DocumentKind, id: number) {
  effects.documents.set(`${kind}:${id}`, { kind, id });
}
