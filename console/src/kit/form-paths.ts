/** Between the paths of a body (`items.0.ips.3`) and the fields of a form (`ips`, fourth line). Pure. */
import type { FieldProblem } from './errors.ts';

export type Path = (string | number)[];
export const pathOf = (text: string): Path =>
  text === '' ? [] : text.split('.').map(step => (/^\d+$/.test(step) ? Number(step) : step));

export interface PlacedProblem {
  /** name of the form's field */
  name: Path;
  rule: string;
  bounds?: FieldProblem['bounds'];
  /** the sentence as it is, where no rule has one */
  text?: string;
  /** line of a text area, from 1 */
  line?: number;
}

/**
 * Puts problems at the fields of a form. `wrap` is the array the one row of the form is sent in; `fields` are the names the form has,
 * with `*` for an index (`upstreams.*.port`). What fits nowhere comes back apart.
 */
export function place(problems: readonly FieldProblem[], fields: readonly string[], wrap?: string) {
  const placed: PlacedProblem[] = [];
  const homeless: FieldProblem[] = [];
  for (const problem of problems) {
    let path = pathOf(problem.path);
    if (wrap && path[0] === wrap && typeof path[1] === 'number') path = path.slice(2);
    const home = longestKnown(path, fields);
    if (!home) homeless.push(problem);
    else {
      const rest = path[home.length];
      placed.push({
        name: home,
        rule: problem.rule,
        bounds: problem.bounds,
        ...(problem.text === undefined ? {} : { text: problem.text }),
        ...(typeof rest === 'number' ? { line: rest + 1 } : {}),
      });
    }
  }
  return { placed, homeless };
}

function longestKnown(path: Path, fields: readonly string[]): Path | undefined {
  for (let length = path.length; length > 0; length--) {
    const head = path.slice(0, length);
    if (fields.includes(head.map(step => (typeof step === 'number' ? '*' : step)).join('.'))) return head;
  }
  return undefined;
}
