/** How a call looks in a program: what comes with each language, nothing to install. The token is read from the environment. */
export const sampleLanguages = ['curl', 'node', 'python', 'go'] as const;
export type SampleLanguage = (typeof sampleLanguages)[number];

export interface Request {
  method: string;
  /** with its query */
  url: string;
  /** of the call's own */
  headers?: Readonly<Record<string, string>>;
  /** what is sent as JSON; undefined: nothing */
  body?: unknown;
}
const tokenName = 'BREAKWATER_TOKEN';

const pretty = (body: unknown) => JSON.stringify(body, null, 2);
/** For a POSIX shell. */
const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
/** Strings of JSON are strings of JavaScript, Python and Go. */
const quoted = (text: string) => JSON.stringify(text);
const indented = (text: string, by: string) => text.replaceAll('\n', `\n${by}`);

/** A value as Python writes it. */
function python(value: unknown, indent = ''): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const list = (open: string, items: string[], close: string) =>
    items.length ? `${open}\n${items.map(one => `${inner}${one},\n`).join('')}${indent}${close}` : open + close;
  return Array.isArray(value)
    ? list(
        '[',
        value.map(one => python(one, inner)),
        ']',
      )
    : list(
        '{',
        Object.entries(value).map(([key, one]) => `${quoted(key)}: ${python(one, inner)}`),
        '}',
      );
}

const lines = (headers: Request['headers'], write: (name: string, value: string) => string) =>
  Object.entries(headers ?? {}).map(([name, value]) => write(name, value));

const writers: Record<SampleLanguage, (request: Request) => string> = {
  curl: ({ method, url, body, headers }) =>
    [
      `curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${shell(url)}`,
      `-H "Authorization: Bearer $${tokenName}"`,
      ...lines(headers, (name, value) => `-H ${shell(`${name}: ${value}`)}`),
      ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${shell(pretty(body))}`]),
    ].join(' \\\n  '),
  node: ({ method, url, body, headers }) =>
    [
      `const response = await fetch(${quoted(url)}, {`,
      `  method: ${quoted(method)},`,
      `  headers: {`,
      `    Authorization: \`Bearer \${process.env.${tokenName}}\`,`,
      ...lines(headers, (name, value) => `    ${quoted(name)}: ${quoted(value)},`),
      ...(body === undefined ? [] : [`    'Content-Type': 'application/json',`]),
      `  },`,
      ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(pretty(body), '  ')}),`]),
      `});`,
      `if (!response.ok) throw new Error(await response.text());`,
      `console.log(await response.text());`,
    ].join('\n'),
  python: ({ method, url, body, headers }) =>
    [
      `import json`,
      `import os`,
      `import urllib.request`,
      ``,
      ...(body === undefined ? [] : [`body = ${python(body)}`, ``]),
      `request = urllib.request.Request(`,
      `    ${quoted(url)},`,
      `    method=${quoted(method)},`,
      ...(body === undefined ? [] : [`    data=json.dumps(body).encode(),`]),
      `    headers={`,
      `        "Authorization": f"Bearer {os.environ['${tokenName}']}",`,
      ...lines(headers, (name, value) => `        ${quoted(name)}: ${quoted(value)},`),
      ...(body === undefined ? [] : [`        "Content-Type": "application/json",`]),
      `    },`,
      `)`,
      `with urllib.request.urlopen(request) as response:`,
      `    print(response.read().decode())`,
    ]
      .filter((line, index) => body !== undefined || !(index === 0 && line === 'import json'))
      .join('\n'),
  go: ({ method, url, body, headers }) => {
    const text = body === undefined ? '' : pretty(body);
    return [
      `package main`,
      ``,
      `import (`,
      `\t"fmt"`,
      `\t"io"`,
      `\t"net/http"`,
      `\t"os"`,
      ...(body === undefined ? [] : [`\t"strings"`]),
      `)`,
      ``,
      `func main() {`,
      ...(body === undefined
        ? [`\trequest, err := http.NewRequest(${quoted(method)}, ${quoted(url)}, nil)`]
        : [
            // a raw string cannot hold its own quote
            `\tbody := strings.NewReader(${text.includes('`') ? quoted(text) : `\`${text}\``})`,
            `\trequest, err := http.NewRequest(${quoted(method)}, ${quoted(url)}, body)`,
          ]),
      `\tif err != nil {`,
      `\t\tpanic(err)`,
      `\t}`,
      `\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("${tokenName}"))`,
      ...lines(headers, (name, value) => `\trequest.Header.Set(${quoted(name)}, ${quoted(value)})`),
      ...(body === undefined ? [] : [`\trequest.Header.Set("Content-Type", "application/json")`]),
      `\tresponse, err := http.DefaultClient.Do(request)`,
      `\tif err != nil {`,
      `\t\tpanic(err)`,
      `\t}`,
      `\tdefer response.Body.Close()`,
      `\tanswer, err := io.ReadAll(response.Body)`,
      `\tif err != nil {`,
      `\t\tpanic(err)`,
      `\t}`,
      `\tfmt.Println(response.Status)`,
      `\tfmt.Println(string(answer))`,
      `}`,
    ].join('\n');
  },
};
export const sampleOf = (language: SampleLanguage, request: Request): string => writers[language](request);
