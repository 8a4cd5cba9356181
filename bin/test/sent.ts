/**
 * `node bin/test/sent.ts FILE`: every error of §8 was answered by the server in some test of the run that filled FILE (system/sent.ts),
 * or stands on the not-yet list, never both; what never arises in none. `npm test` asks it after every file, of a whole run alone.
 */
import { existsSync, readFileSync } from 'node:fs';
import { errorCodes } from '#contract/errors/codes.ts';
import { ruleTexts } from '#contract/rules/rule.ts';
import { owedProblems } from '../../contract/test/guards/owed.ts';
import { neverArises, notYet } from '../../contract/test/not-yet.ts';

const file = process.argv[2] ?? '';
const lines = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
// 101001 is no error: an answer that went well carries no code
const asked = Object.keys(errorCodes).filter(name => name !== 'ok' && !(name in neverArises));
const built = asked.filter(name => lines.has(`code ${name}`));
const problems = [
  ...owedProblems('code', { asked, built, notYet: notYet.codes }),
  ...Object.keys(neverArises).flatMap(name =>
    lines.has(`code ${name}`) ? [`code ${name}: answered, although it never arises`] : [],
  ),
];
for (const problem of problems) console.log(problem);
console.log(`${built.length} of ${asked.length} errors were answered in a test.`);
// for whoever reads it: some rules are of forms alone, some wait for what is not built
const silent = Object.keys(ruleTexts).filter(name => !lines.has(`rule ${name}`));
console.log(`No answer broke the rules ${silent.join(', ')}.`);
process.exitCode = problems.length ? 1 : 0;
