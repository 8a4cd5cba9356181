/** What is built, as the guards and `shrink.ts` see it: calls, routes, used constants, shown messages; and which errors code can answer. */
import { errorCodes } from '#contract/errors/codes.ts';
import { groups } from '#contract/index.ts';
import { mounted } from '#contract/kit/call.ts';
import * as limits from '#contract/limits.ts';
import { screens as admin } from '../../../console/src/areas/admin.ts';
import { screens as client } from '../../../console/src/areas/client.ts';
import { screens as user } from '../../../console/src/areas/user.ts';
import { messages } from '../../../console/src/text/messages.zh_TW.ts';
import { lineOf } from './declarations.ts';
import { reached } from './imports.ts';
import { answered, constantsOf, dataLines, mentioned, routerPath, sources, used } from './sources.ts';

export const calls = [...mounted(groups)];

const code = () =>
  sources('{contract,server,agent,bin}/**/*.ts', 'console/src/**/*.{ts,tsx}', 'console/vite.config.ts').filter(
    ({ file }) => !/\.test\.ts$|\/test\//.test(file),
  );

/** Pages of the three areas, and those of the login shell, which the router makes for every area. */
function builtRoutes(asked: readonly string[]): string[] {
  const router = sources('console/src/router.tsx')[0]!.text;
  const shell = [...router.matchAll(/\blogin\(\s*'(\/[^']*)'/g)].map(([, path]) => path!);
  const pages = [user, client, admin].flatMap(({ area, sections }) => [
    ...shell.map(path => `/${area}${path === '/' ? '' : path}`),
    ...sections.flatMap(section => section.screens.map(screen => `/${area}/${screen.path}`)),
  ]);
  const fixed = [...router.matchAll(/path: '(\/(?:404)?)'/g)].map(([, path]) => path!);
  const all = new Set([...pages, ...fixed]);
  return asked.filter(route => all.has(routerPath(route)));
}

export function everything() {
  const constants = constantsOf(limits);
  const routes = dataLines('contract/test/routes.txt');
  const files = code();
  const withoutLimits = files.filter(({ file }) => !/^contract\/src\/limits(-start)?\.ts$/.test(file));
  const console = reached(files, 'console/src/main.tsx').filter(
    ({ file }) => file.startsWith('console/src/') && !file.startsWith('console/src/text/'),
  );
  return {
    calls: {
      asked: dataLines('contract/test/calls.txt'),
      built: calls.filter(call => call.group.pending === undefined).map(lineOf),
    },
    routes: { asked: routes, built: builtRoutes(routes) },
    constants: { asked: constants, built: used(constants, [...withoutLimits, ...sources('edge/lua/**/*.lua')]) },
    messages: { asked: Object.keys(messages), built: mentioned(Object.keys(messages), console) },
  };
}

/** Errors that some code can answer. Whether it does is seen at the end of a whole `npm test` (bin/test/sent.ts). */
export const answerable = (): string[] =>
  answered(
    Object.keys(errorCodes),
    code().filter(({ file }) => !/^contract\/src\/errors|^console\//.test(file)),
  );
