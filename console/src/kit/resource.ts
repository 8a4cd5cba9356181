/** A resource of the console as data: what its list shows, what its form asks, what can be done with a row. */
import type { CodeLanguage } from './code-language.ts';
import type { ReactNode } from 'react';
import type { Rule } from '#contract/rules/rule.ts';
import type { ListState } from './list-state.ts';
import type { Api, CallKey, ListKey, RowOf } from './client.ts';
import type { Needs } from './needs.ts';
import type { ActionOptions, TaskWords } from './query.ts';
import type { Named, Prefix, TextsOf } from './text.ts';

export type FieldName = Named<'field'>;
/** What has all the texts of a resource. */
export type ResourceName = Extract<Extract<Named<'page'>, Named<'noun'>>, Named<'empty'>>;
export type Values = Record<string, unknown>;
/** What every row of a list has. */
export interface Row {
  id: number;
}

export type ColumnKind = 'text' | 'mono' | 'number' | 'bytes' | 'time' | 'until' | 'tags' | 'status' | 'bool' | 'option';
interface ColumnLook<Row> {
  sort?: boolean;
  width?: number;
  /** Where the first column leads: an address, or one of the row's actions. */
  link?: ((row: Row) => string | undefined) | Named<'action'>;
  /** Not shown until it is chosen. */
  isOptional?: boolean;
  /** How the row is, in sentences: beside its name on a telephone, and as high as they are there. */
  isState?: boolean;
  render?: (row: Row) => ReactNode;
}
/** Values with texts name where those stand, `state` for `state.normal`; a value that has none there does not compile. */
type Kind<V> =
  | { kind?: Exclude<ColumnKind, 'status' | 'option'>; texts?: undefined }
  | { kind: 'option'; texts: TextsOf<V> }
  | ({ kind: 'status' } & ('state' extends TextsOf<V> ? { texts?: TextsOf<V> } : { texts: TextsOf<V> }));
type OwnColumn<Row> = {
  [N in Extract<keyof Row, FieldName>]: { name: N; label?: FieldName } & Kind<NonNullable<Row[N]>>;
}[Extract<keyof Row, FieldName>];
/** The heading is `field.<name>` unless another is named. */
export type Column<Row> = ColumnLook<Row> &
  (OwnColumn<Row> | { name: string; label: FieldName; kind?: ColumnKind; texts?: Prefix });

/** Values are their own text, or have one each (`options`). */
type Choices = { values: readonly (string | number)[]; texts?: undefined } | Options;
interface Options {
  values: readonly (string | number)[];
  texts: Prefix;
  /** made by `options` alone, which compiles only if every value has its text */
  isSaid: true;
}
/** `options(blockTypes, 'blockType')`: values with the texts `blockType.<value>`. */
export const options = <const V extends readonly (string | number)[], P extends TextsOf<V[number]>>(
  values: V,
  texts: P,
): Options => ({
  values,
  texts,
  isSaid: true,
});
/** Choices the API gives: a `meta…` call with its `{id, name}`. */
export interface RemoteChoices {
  from: CallKey;
  query?: object;
  /** The list is paged, and this field of its query searches it. Left out: the call answers all there is to choose. */
  searchBy?: string;
  text?: (row: Record<string, unknown>) => string;
  /** The value of a choice; its id unless said. */
  value?: string;
  /** Why a row cannot be chosen: it stands among the others, and says so. */
  why?: (row: Record<string, unknown>) => string | undefined;
  /** A first entry that stands for nothing chosen. */
  none?: { value: string | number; text: () => string };
}
/** A call that answers texts one may choose among: tags in use. */
export type TextsCall = { [K in CallKey]: string[] extends Api[K]['answer'] ? K : never }[CallKey];
export type TimePreset = 'hour' | 'day' | 'month' | 'year' | 'never';
/** `otherwise`: the value that counts while none is chosen; there is no "all" then. */
export type Filter = { name: FieldName; width?: number } & (
  | { kind: 'search' }
  | ({ kind: 'segments'; otherwise?: string } & Choices)
  | ({ kind: 'select' } & (Choices | RemoteChoices))
  | { kind: 'tags'; suggest?: TextsCall }
  | { kind: 'text' }
  /** two points in time, kept as `startTime` and `endTime` unless named otherwise; `when`: shown while another filter has this value */
  | {
      kind: 'range';
      ends?: readonly [start: string, end: string];
      when?: (filters: Readonly<Record<string, unknown>>) => boolean;
    }
);
export const endsOf = (filter: Extract<Filter, { kind: 'range' }>) => filter.ends ?? (['startTime', 'endTime'] as const);
/** The filters of an address: a range is two of them. */
export const filterNamesOf = (filters: readonly Filter[]): string[] =>
  filters.flatMap(filter => (filter.kind === 'range' ? [...endsOf(filter)] : [filter.name]));

interface FieldLook {
  label?: FieldName;
  help?: Named<'help'>;
  placeholder?: string;
  /** Value of a new row; a function makes it when the form opens. */
  initial?: unknown;
  /** What the label says, where the schema alone cannot tell: a rule over several fields asks for it. */
  isOptional?: boolean;
  when?: (values: Values) => boolean;
  only?: 'create' | 'edit';
  width?: number | string;
  /** What the form refuses beyond the schema of its call; the server refuses it too, in other words. */
  rule?: Rule<never>;
  /** What a rule that the server refused it by means beside what the field shows; else its sentence. */
  told?: (rule: string) => string | undefined;
  /** What it must be, said before it is typed, and whether it is by now. */
  rules?: (value: unknown) => ReactNode;
  /** What follows from a value that is allowed, and that one would rather know before saving. */
  warn?: (value: unknown, values: Values) => string | undefined;
  /** Puts what was typed into the form the rules ask for, when the field is left: values of this field and of those beside it. */
  mend?: (typed: string) => Values;
  /** The same for each line of `lines`. */
  mendLine?: (typed: string) => string;
}
export type FormField = FieldLook & { name: FieldName } & (
    | { kind: 'text' | 'mono' | 'area' | 'password' | 'switch' | 'lines' }
    /** An editor with colours; where the language is none of them, by the values of the form, a plain area. */
    | { kind: 'code'; language: (values: Values) => CodeLanguage | undefined }
    | { kind: 'tags'; suggest?: TextsCall }
    /** `presets`: buttons that set a time from the one that stands there, or from now. */
    | { kind: 'time'; presets?: readonly TimePreset[] }
    | { kind: 'number'; unit?: Named<'unit'> }
    | ({ kind: 'select'; isMultiple?: boolean } & Choices)
    | ({ kind: 'segments' } & Choices)
    | ({ kind: 'remote'; isMultiple?: boolean } & RemoteChoices)
    | { kind: 'list'; fields: FormField[]; add: Named<'action'>; template: () => Values }
    | {
        kind: 'custom';
        render: (input: CustomInput) => ReactNode;
      }
  );

/** What a field's own input is given; how it is called where no label stands beside it, and where a screen reader finds what is wrong with it. */
export interface CustomInput {
  value: unknown;
  onChange: (value: unknown) => void;
  id?: string;
  disabled?: boolean;
  'aria-label'?: string | undefined;
  'aria-invalid'?: boolean | 'true' | 'false' | undefined;
  'aria-describedby'?: string | undefined;
}

/** Something to do with one row or several. */
export interface RowAction<Row> {
  name: Named<'action'>;
  /** Shown only if what it needs is allowed. */
  call?: Needs;
  /** Also in the bar of several chosen rows. */
  isBatch?: boolean;
  /** Whether the row's state allows it; only rows that do are sent. */
  when?: (row: Row) => boolean;
  /** Why it cannot be done with this row now: the entry stays, disabled, and says so. */
  why?: (row: Row) => string | undefined;
  /** `reversible`: done at once; `disruptive`: asks, naming the rows; `destructive`: the number or name must be typed. */
  level?: 'reversible' | 'disruptive' | 'destructive';
  isDanger?: boolean;
  /** Sentence of the question; of what depends on the rows, made of them. */
  warning?: Named<'warning'> | ((rows: Row[]) => string | undefined | Promise<string>);
  /** What the question shows to be copied (confirm-dialog.tsx). */
  toCopy?: (rows: Row[]) => readonly string[];
  run?: (rows: Row[], context: ActionContext) => Promise<unknown> | void;
  /** It is one call and no form: so it takes any number of rows. */
  isCall?: boolean;
  to?: (row: Row) => string | undefined;
}
export interface ActionContext {
  params: Params;
  /** Makes a call with the page's parameters; shows its failure. Answers whether it went well. */
  send: <K extends CallKey>(
    key: K,
    body: Api[K]['body'],
    /** params: of the path, which the page's address has not */
    options?: ActionOptions & {
      params?: Readonly<Record<string, number>>;
      /** says itself what became of it, by what was answered: once for each turn it took */
      told?: (answers: readonly unknown[]) => void;
    },
  ) => Promise<boolean>;
  edit: (id: number | 'new') => void;
}
export type Params = Record<string, number>;

/** A row action that is nothing but one call with a body made of the rows. */
export function act<Row, K extends CallKey>(
  call: K,
  action: Omit<RowAction<Row>, 'call' | 'run'> & {
    body: (rows: Row[]) => Api[K]['body'];
    success?: () => string;
    /** stands before what the server says of a refusal */
    failed?: () => string;
    /** it begins a task: what is said when that has ended; `failed` also where the call is refused */
    task?: () => TaskWords;
  },
): RowAction<Row> {
  const { body, success, failed, task, ...rest } = action;
  return {
    ...rest,
    call,
    isCall: true,
    run: (rows, { send }) => {
      const words = task?.();
      return send(
        call,
        body(rows),
        words ? { task: words, otherwise: words.failed } : { success: success?.(), ...(failed && { otherwise: failed() }) },
      );
    },
  };
}

export interface Resource<L extends ListKey = ListKey, Row = RowOf<L>> {
  /** Names its texts (`page.<name>` for many, `noun.<name>` for one, `empty.<name>`) and what is remembered about its list. */
  name: ResourceName;
  list: L;
  /** What an empty list says; `empty.<name>` unless another is named. */
  empty?: Named<'empty'>;
  /** What stands above the list, whether it has rows or not: what else holds here. */
  note?: Named<'note'>;
  /** What is sent for a state of the list, where that is not the state as a query; asked anew for every answer. */
  input?: (state: ListState) => object;
  /** The file of the list, where the server writes it: all that the list finds, however many. Else it is made here of the rows. */
  file?: { call: CallKey; input: (state: ListState) => object; note: Named<'note'> };
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
  /** The history of a row is one of its actions, where it has no drawer of its own whose other side it is. */
  history?: boolean;
  /** A call that answers rows, by their ids, as a file. */
  export?: CallKey;
  /** A row by its own call, and what that calls its id; without it the list is asked for it. */
  one?: { call: CallKey; param: string };
  /** What opens for a row, where that is not the form: the address holds it as `edit`. */
  drawer?: (row: Row, context: { params: Params; onClose: () => void }) => ReactNode;
  /** How dangerous removing is; `disruptive` unless said. */
  removal?: 'disruptive' | 'destructive';
  /** What has to be known, or done elsewhere, before these rows are removed. */
  removalAsks?: Pick<RowAction<Row>, 'warning' | 'toCopy'>;
  /** Why this row can be neither edited nor removed. */
  whyFixed?: (row: Row) => string | undefined;
  /** The path of PUT names the row by this parameter, and its body does not. */
  idParam?: string;
  /** The array that wraps a new row: `{items: [row]}`. */
  wrap?: string;
  /** The array in which PUT has the row, where `updateBody` puts it into one. */
  updateWrap?: string;
  /** The body of PUT is not `{id, …fields}`. */
  updateBody?: (values: Values, row: Row) => object;
  createBody?: (values: Values) => object;
  /** Form values of a row, where they are not the row's own fields. */
  valuesOf?: (row: Row) => Values;
  errors?: ActionOptions;
  /** Told what a new row was made of, once it is saved. */
  made?: (values: Values) => void;
  /** What is said after a change, where the general words ("Create Success!") are not enough. */
  said?: {
    created?: () => string;
    updated?: (row: Row) => string;
    removed?: (rows: Row[]) => string;
    createFailed?: () => string;
    updateFailed?: () => string;
    removeFailed?: () => string;
  };
}

/** Ties the rows of the list to columns and actions. */
export const resource = <L extends ListKey>(definition: Resource<L, RowOf<L> & { id: number }>) => definition;
