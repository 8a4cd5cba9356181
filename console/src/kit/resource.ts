/** A resource of the console as data: what its list shows, what its form asks, what can be done with a row. */
import type { ReactNode } from 'react';
import type { ListState } from './list-state.ts';
import type { Api, CallKey, ListKey, RowOf } from './client.ts';
import type { ActionOptions } from './query.ts';
import type { Named } from './text.ts';

export type FieldName = Named<'field'>;
export type Values = Record<string, unknown>;

export type ColumnKind = 'text' | 'mono' | 'number' | 'bytes' | 'time' | 'tags' | 'status' | 'bool' | 'option';
interface ColumnLook<Row> {
  kind?: ColumnKind;
  /** Texts of the values for `status` and `option`: `state` reads `state.normal`. */
  texts?: string;
  sort?: boolean;
  width?: number;
  /** Where the first column leads: an address, or one of the row's actions. */
  link?: ((row: Row) => string | undefined) | Named<'action'>;
  /** Not shown until it is chosen. */
  isOptional?: boolean;
}
/** The heading is `field.<name>` unless another is named. */
export type Column<Row> = ColumnLook<Row> &
  (
    | { name: Extract<keyof Row, FieldName>; label?: FieldName; render?: (row: Row) => ReactNode }
    | { name: string; label: FieldName; render?: (row: Row) => ReactNode }
  );

interface Choices {
  values: readonly (string | number)[];
  /** `state` reads the texts `state.<value>`; left out: the values are their own text. */
  texts?: string;
}
/** Choices the API gives: a `meta…` call with its `{id, name}`. */
export interface RemoteChoices {
  from: CallKey;
  query?: object;
  /** The list is paged, and this field of its query searches it. Left out: the call answers all there is to choose. */
  searchBy?: string;
  text?: (row: Record<string, unknown>) => string;
  /** The value of a choice; its id unless said. */
  value?: string;
}
/** `otherwise`: the value that counts while none is chosen; there is no "all" then. */
export type Filter = { name: FieldName; width?: number } & (
  | { kind: 'search' }
  | ({ kind: 'segments'; otherwise?: string } & Choices)
  | ({ kind: 'select' } & (Choices | RemoteChoices))
  | { kind: 'tags' }
  | { kind: 'text' }
  /** two points in time, kept as `startTime` and `endTime`; shown while another filter has this value */
  | { kind: 'range'; when: (filters: Readonly<Record<string, unknown>>) => boolean }
);
/** The filters of an address: a range is two of them. */
export const filterNamesOf = (filters: readonly Filter[]): string[] =>
  filters.flatMap(filter => (filter.kind === 'range' ? ['startTime', 'endTime'] : [filter.name]));

interface FieldLook {
  label?: FieldName;
  help?: Named<'help'>;
  placeholder?: string;
  /** Value of a new row. */
  initial?: unknown;
  /** What the label says, where the schema alone cannot tell: a rule over several fields asks for it. */
  isOptional?: boolean;
  when?: (values: Values) => boolean;
  only?: 'create' | 'edit';
  width?: number | string;
  /** Puts what was typed into the form the rules ask for, when the field is left: values of this field and of those beside it. */
  mend?: (typed: string) => Values;
}
export type FormField = FieldLook & { name: FieldName } & (
    | { kind: 'text' | 'mono' | 'area' | 'password' | 'switch' | 'tags' | 'lines' | 'time' }
    | { kind: 'number'; unit?: Named<'unit'> }
    | ({ kind: 'select' | 'segments' } & Choices)
    | ({ kind: 'remote'; isMultiple?: boolean } & RemoteChoices)
    | { kind: 'list'; fields: FormField[]; add: Named<'action'>; template: () => Values }
    | {
        kind: 'custom';
        render: (input: { value: unknown; onChange: (value: unknown) => void; id?: string; disabled?: boolean }) => ReactNode;
      }
  );

/** Something to do with one row or several. */
export interface RowAction<Row> {
  name: Named<'action'>;
  /** Shown only if this call is allowed. */
  call?: CallKey;
  /** Also in the bar of several chosen rows. */
  isBatch?: boolean;
  /** Whether the row's state allows it; only rows that do are sent. */
  when?: (row: Row) => boolean;
  /** Why it cannot be done with this row now: the entry stays, disabled, and says so. */
  why?: (row: Row) => string | undefined;
  /** `reversible`: done at once; `disruptive`: asks, naming the rows; `destructive`: the number or name must be typed. */
  level?: 'reversible' | 'disruptive' | 'destructive';
  isDanger?: boolean;
  /** Sentence of the question. */
  warning?: Named<'warning'>;
  run?: (rows: Row[], context: ActionContext) => Promise<unknown> | void;
  to?: (row: Row) => string | undefined;
}
export interface ActionContext {
  params: Params;
  /** Makes a call with the page's parameters; shows its failure. Answers whether it went well. */
  send: <K extends CallKey>(key: K, body: Api[K]['body'], options?: ActionOptions) => Promise<boolean>;
  edit: (id: number | 'new') => void;
}
export type Params = Record<string, number>;

/** A row action that is nothing but one call with a body made of the rows. */
export function act<Row, K extends CallKey>(
  call: K,
  action: Omit<RowAction<Row>, 'call' | 'run'> & { body: (rows: Row[]) => Api[K]['body']; success?: () => string },
): RowAction<Row> {
  const { body, success, ...rest } = action;
  return { ...rest, call, run: (rows, { send }) => send(call, body(rows), { success: success?.() }) };
}

export interface Resource<L extends ListKey = ListKey, Row = RowOf<L>> {
  /** Names its texts (`page.<name>`, `empty.<name>`) and what is remembered about its list. */
  name: Named<'page'>;
  list: L;
  /** What an empty list says; `empty.<name>` unless another is named. */
  empty?: Named<'empty'>;
  /** What is sent for a state of the list, where that is not the state as a query; asked anew for every answer. */
  input?: (state: ListState) => object;
  /** The field that tells rows apart; `id` unless said. */
  rowKey?: string;
  /** Added to every query. */
  query?: object;
  columns: Column<Row>[];
  filters?: Filter[];
  defaultSort?: string;
  /** Asks again every so often, while the rows call for it. */
  pollMs?: number | ((rows: readonly Row[]) => number | false);
  rowName?: (row: Row) => string;
  actions?: RowAction<Row>[];
  fields?: FormField[];
  drawerPx?: number;
  create?: CallKey;
  update?: CallKey;
  remove?: CallKey;
  /** How dangerous removing is; `disruptive` unless said. */
  removal?: 'disruptive' | 'destructive';
  /** Why this row can be neither edited nor removed. */
  whyFixed?: (row: Row) => string | undefined;
  /** The array that wraps a new row: `{items: [row]}`. */
  wrap?: string;
  /** The body of PUT is not `{id, …fields}`. */
  updateBody?: (values: Values, row: Row) => object;
  createBody?: (values: Values) => object;
  /** Form values of a row, where they are not the row's own fields. */
  valuesOf?: (row: Row) => Values;
  errors?: ActionOptions;
  /** What is said after a change, where the general words ("Create Success!") are not enough. */
  said?: {
    created?: () => string;
    updated?: (row: Row) => string;
    removed?: (rows: Row[]) => string;
    createFailed?: () => string;
    updateFailed?: () => string;
  };
}

/** Ties the rows of the list to columns and actions. */
export const resource = <L extends ListKey>(definition: Resource<L, RowOf<L> & { id: number }>) => definition;
