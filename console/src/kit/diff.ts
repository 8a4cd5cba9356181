/** What differs between two texts, line by line. Pure. */
export interface DiffLine {
  kind: 'same' | 'gone' | 'new';
  text: string;
}

/** Above so many comparisons only what stands on one side alone is told, without regard to where. */
const comparisonsMax = 1_000_000;

/** Every line of both, in order: as few changes as can be. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const same = (lines: readonly string[]) => lines.map((text): DiffLine => ({ kind: 'same', text }));
  const [gone, added] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const middle = gone.length * added.length > comparisonsMax ? sides(gone, added) : shortest(gone, added);
  return [...same(before.slice(0, start)), ...middle, ...same(before.slice(before.length - end))];
}

function sides(before: readonly string[], after: readonly string[]): DiffLine[] {
  const [was, is] = [new Set(before), new Set(after)];
  return [
    ...before.filter(text => !is.has(text)).map((text): DiffLine => ({ kind: 'gone', text })),
    ...after.filter(text => !was.has(text)).map((text): DiffLine => ({ kind: 'new', text })),
  ];
}

/** By the longest common subsequence. */
function shortest(before: readonly string[], after: readonly string[]): DiffLine[] {
  const width = after.length + 1;
  const longest = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      longest[i * width + j] =
        before[i] === after[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length)
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ kind: 'same', text: before[i++]! });
      j++;
    } else if (j >= after.length || (i < before.length && longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!))
      lines.push({ kind: 'gone', text: before[i++]! });
    else lines.push({ kind: 'new', text: after[j++]! });
  return lines;
}

/** Unchanged lines farther than `context` from a change become one line that says how many they are. */
export function folded(lines: readonly DiffLine[], context = 1): (DiffLine | { kind: 'hidden'; count: number })[] {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(one => one.kind !== 'same'),
  );
  const result: (DiffLine | { kind: 'hidden'; count: number })[] = [];
  for (const [index, line] of lines.entries()) {
    const last = result.at(-1);
    if (near[index]) result.push(line);
    else if (last?.kind === 'hidden') last.count++;
    else result.push({ kind: 'hidden', count: 1 });
  }
  return result;
}
