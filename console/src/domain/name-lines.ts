/** What the lines somebody pasted say about the domains of a site. Pure. */
import { mendDomainName } from '#contract/rules/mend.ts';
import { domainName } from '#contract/rules/origins.ts';
import { linesOf } from '#contract/rules/rule.ts';

/** `twice`: an earlier line names it already. */
export type Verdict = 'found' | 'notFound' | 'wrong' | 'twice';
export interface NameLine {
  /** from 1, as a reader counts, blank lines too */
  line: number;
  typed: string;
  /** As the domain would be called. */
  name: string;
  verdict: Verdict;
}

export function nameLines(text: string, known: ReadonlySet<string>): NameLine[] {
  const seen = new Set<string>();
  return linesOf(text).map(({ line, value }) => {
    const name = mendDomainName(value);
    const verdict = known.has(name)
      ? seen.has(name)
        ? 'twice'
        : 'found'
      : domainName.check(name) === true
        ? 'notFound'
        : 'wrong';
    seen.add(name);
    return { line: line + 1, typed: value, name, verdict };
  });
}
