/** What an OpenAPI document says of one call, as people read it. Pure. */
export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: (string | number)[];
  const?: string | number | boolean;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}
export interface Operation {
  tags: string[];
  'x-permission'?: string;
  /** a program is refused */
  'x-person'?: boolean;
  security: unknown[];
  parameters: { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}
export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
}
export interface Call {
  /** `GET /user/sites` */
  key: string;
  method: string;
  path: string;
  operation: Operation;
}
export const callsOf = (document: ApiDocument): Call[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const upper = method.toUpperCase();
      return { key: `${upper} ${path}`, method: upper, path, operation };
    }),
  );

/** What may be null, without that. */
function bare(schema: Schema): { schema: Schema; isNullable: boolean } {
  const among = schema.anyOf ?? schema.oneOf;
  const others = among?.filter(one => one.type !== 'null');
  return among && others?.length === 1 && others.length < among.length
    ? { schema: others[0]!, isNullable: true }
    : { schema, isNullable: false };
}

/** `integer ≥ 1`, `array of string (1–500)`, `"deny" | "drop"`. */
export function typeOf(given: Schema): string {
  const { schema, isNullable } = bare(given);
  const or = isNullable ? ' | null' : '';
  if (schema.const !== undefined) return JSON.stringify(schema.const) + or;
  if (schema.enum) return schema.enum.map(one => JSON.stringify(one)).join(' | ') + or;
  const among = schema.anyOf ?? schema.oneOf;
  if (among) return [...new Set(among.map(typeOf))].join(' | ') + or;
  if (schema.type === 'array')
    return `array of ${schema.items ? typeOf(schema.items) : 'any'}${span(schema.minItems, schema.maxItems)}${or}`;
  const name = schema.format === 'date-time' ? 'date-time' : (schema.type ?? 'any');
  const bounds =
    name === 'string'
      ? span(schema.minLength, schema.maxLength)
      : name === 'date-time'
        ? ''
        : span(schema.minimum, whole(schema.maximum));
  return name + bounds + or;
}
/** Largest numbers that mean "no bound". */
const whole = (max: number | undefined) => (max !== undefined && max >= 2 ** 31 - 1 ? undefined : max);
function span(min: number | undefined, max: number | undefined): string {
  if (min === undefined && max === undefined) return '';
  if (max === undefined) return ` ≥ ${min}`;
  return ` (${min ?? 0}–${max})`;
}

export interface FieldLine {
  /** `items[].ips` */
  path: string;
  type: string;
  isRequired: boolean;
}
export function fieldLines(given: Schema, prefix = ''): FieldLine[] {
  const { schema } = bare(given);
  const inner = schema.type === 'array' && schema.items ? bare(schema.items).schema : schema;
  const at = schema.type === 'array' ? `${prefix}[]` : prefix;
  return Object.entries(inner.properties ?? {}).flatMap(([name, field]) => {
    const path = at ? `${at}.${name}` : name;
    return [{ path, type: typeOf(field), isRequired: inner.required?.includes(name) ?? false }, ...fieldLines(field, path)];
  });
}

/** A value that fits its types: what must be there, or all where nothing must. */
export function exampleOf(given: Schema, name = ''): unknown {
  const { schema, isNullable } = bare(given);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const among = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (among) return exampleOf(among[0]!, name);
  switch (schema.type) {
    case 'object': {
      const all = Object.entries(schema.properties ?? {});
      const needed = all.filter(([key]) => schema.required?.includes(key));
      return Object.fromEntries((needed.length ? needed : all).map(([key, field]) => [key, exampleOf(field, key)]));
    }
    case 'array':
      return schema.items && (schema.minItems ?? 0) > 0 ? [exampleOf(schema.items, name)] : [];
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, 0);
    case 'boolean':
      return true;
    case 'string':
      return schema.format === 'date-time' ? (isNullable ? null : '2027-01-01T00:00:00Z') : name;
    default:
      return null;
  }
}

/** The address of a call: path parameters and those of the query that were filled in. */
export function urlOf(base: string, call: Call, values: Readonly<Record<string, string>>): string {
  const path = call.path.replace(/\{(\w+)\}/g, (whole_, name: string) =>
    values[name] ? encodeURIComponent(values[name]) : whole_,
  );
  const query = new URLSearchParams(
    call.operation.parameters.flatMap(({ name, in: where }) => (where === 'query' && values[name] ? [[name, values[name]]] : [])),
  );
  return `${base}${path}${query.size ? `?${query}` : ''}`;
}
/** Its own headers that were filled in. */
export const headersOf = ({ operation }: Call, values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    operation.parameters.flatMap(({ name, in: where }) => (where === 'header' && values[name] ? [[name, values[name]]] : [])),
  );
export const bodySchema = ({ requestBody }: Operation): Schema | undefined => requestBody?.content['application/json']?.schema;
/** Files and streams need more than a form here. */
export const canTry = ({ requestBody, responses }: Operation): boolean =>
  !requestBody?.content['multipart/form-data'] && !responses['200']?.content?.['text/event-stream'];
