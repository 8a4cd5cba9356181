/** The table as an OpenAPI 3.1 document. */
import { type ErrorName, errors } from '#contract/errors.ts';
import { type Area, type Group, type Mounted, mounted } from '#contract/kit/call.ts';
import { exceededNames } from './licence.ts';
import { jsonSchema } from './schema.ts';

type Json = Record<string, unknown>;
const media = { json: 'application/json', text: 'text/plain', csv: 'text/csv', sse: 'text/event-stream' } as const;
const common = [
  'parameter',
  'credentialFailed',
  'invalidToken',
  'tokenExpired',
  'accountNotEnabled',
  'permissionDenied',
  'unknown',
] as const;

/** Of calls that take a licence in force. */
const licenceFailures = ['licenseExpired', 'licenseNotFound', 'illegalLicense'] as const;
/** decisions.md, Wire: without it the last writer wins. */
const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The version of the row as it was seen, in quotes. A stale one changes nothing: 409.',
  schema: { type: 'string', pattern: '^(\\*|"\\d{1,9}")$' },
};

/** `area`: its calls alone. */
export function openApi(groups: readonly Group[], area?: Area): Json {
  const paths: Record<string, Json> = {};
  for (const call of mounted(groups))
    if (!area || call.area === area) (paths[call.path] ??= {})[call.method.toLowerCase()] = operation(call);
  return {
    openapi: '3.1.0',
    info: { title: 'Breakwater', version: '1', description: 'The API of a self-hosted CDN and edge-protection platform.' },
    servers: [{ url: '/api/v1' }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Error: {
          type: 'object',
          required: ['isError', 'code', 'message'],
          properties: {
            isError: { const: true },
            code: { enum: Object.values(errors).map(e => e.code) },
            message: { type: 'string' },
            errorData: {},
            extra: {},
          },
        },
      },
    },
  };
}

function operation(call: Mounted): Json {
  const { def } = call;
  const query = def.query ? jsonSchema(def.query, 'input') : undefined;
  const required = new Set((query?.['required'] as string[] | undefined) ?? []);
  const kind = def.as ?? 'json';
  const failures = new Map<number, string[]>();
  const fails = (name: ErrorName, status = errors[name].status, remark = '') =>
    failures.set(status, [...(failures.get(status) ?? []), `${errors[name].code} ${errors[name].text.en_US}${remark}`]);
  const underLicence = new Set<ErrorName>(call.takesLicence ? licenceFailures : []);
  for (const name of new Set([...common, ...(def.errors ?? []), ...(call.limited ? [exceededNames[call.limited]] : [])]))
    if (!underLicence.has(name)) fails(name);
  // the mount's answers, whatever the catalogue says of these elsewhere
  for (const name of underLicence) fails(name, 403);
  if (call.heeds) fails('parameter', 409, ' (rule stale: If-Match names another version)');
  return {
    operationId: `${call.method} ${call.path}`.replace(/[^A-Za-z0-9]+/g, '_').replace(/_$/, ''),
    tags: [call.group.resource],
    ...(call.permission ? { 'x-permission': call.permission } : {}),
    // a program is refused: a person is asked for
    ...(call.auth === 'session' ? { 'x-person': true } : {}),
    security: call.auth === 'public' || call.auth === 'node' ? [] : [{ bearer: [] }],
    parameters: [
      ...call.params.map(name => ({ name, in: 'path', required: true, schema: { type: 'integer', minimum: 1 } })),
      ...Object.entries((query?.['properties'] ?? {}) as Json).map(([name, schema]) => ({
        name,
        in: 'query',
        required: required.has(name),
        schema,
      })),
      ...(call.heeds ? [ifMatch] : []),
    ],
    ...(def.body
      ? {
          requestBody: {
            required: true,
            content: { [def.upload ? 'multipart/form-data' : 'application/json']: { schema: jsonSchema(def.body, 'input') } },
          },
        }
      : {}),
    responses: {
      200: {
        description: 'OK',
        content: {
          [media[kind]]: {
            schema: kind === 'json' ? (def.answer ? jsonSchema(def.answer, 'output') : { type: 'object' }) : { type: 'string' },
          },
        },
      },
      ...Object.fromEntries(
        [...failures].map(([status, texts]) => [
          status,
          { description: texts.join('; '), content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
        ]),
      ),
    },
  };
}
