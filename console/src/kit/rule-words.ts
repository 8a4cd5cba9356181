/** The rules' sentences in the language of the page: the build leaves the contract's tables without (vite.config.ts). */
import type { Language } from '#contract/kit/text.ts';
import { reasonTexts } from '#contract/rules/reasons.ts';
import { ruleTexts } from '#contract/rules/texts.ts';

type Words = Readonly<Record<string, string>>;
export function fillRules(language: Language, [rules, reasons]: readonly [rules: Words, reasons: Words]): void {
  for (const [name, text] of Object.entries(ruleTexts)) Object.assign(text, { [language]: rules[name] });
  for (const [name, text] of Object.entries(reasonTexts)) Object.assign(text, { [language]: reasons[name] });
}
