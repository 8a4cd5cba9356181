/** Where nginx's template and Lua are: beside the bundled agent on a node, two folders up in a checkout. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const beside = new URL('./edge/', import.meta.url);
/** absolute, with a slash at its end */
export const edgeFolder: string = fileURLToPath(existsSync(beside) ? beside : new URL('../../../edge/', import.meta.url));
