/** `npm run openapi [-- FILE]`: writes the table of calls as an OpenAPI 3.1 document; the running server answers the same at /openapi.json. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { groups } from '#contract/index.ts';
import { openApi } from '#server/kit/openapi.ts';

const file = resolve(process.argv[2] ?? 'openapi.json');
const document = openApi(groups);
writeFileSync(file, `${JSON.stringify(document, null, 1)}\n`);
console.log(`${file}: ${Object.keys(document.paths as object).length} paths.`);
