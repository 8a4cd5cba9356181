/** What the editor makes of nginx and of the Lua in it, line by line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StringStream, type StreamParser } from '@codemirror/language';
import { codeLanguages, nginx } from '../src/kit/code-language.ts';

/** The words that have a style, line by line. */
function styled<S>(parser: StreamParser<S>, code: string): [word: string, style: string][] {
  const state = parser.startState!(2);
  return code.split('\n').flatMap(line => {
    const stream = new StringStream(line, 2, 2);
    const found: [string, string][] = [];
    while (!stream.eol()) {
      stream.start = stream.pos;
      const style = parser.token(stream, state);
      assert.ok(stream.pos > stream.start, `stands still in ${line} at ${stream.pos}`);
      if (style) found.push([stream.current(), style]);
    }
    return found;
  });
}
const styleOf = (all: readonly [string, string][], word: string) => all.find(one => one[0] === word)?.[1];

test('directives, variables, amounts, patterns, comments', () => {
  const all = styled(
    nginx,
    `server {
  http2 on; # said since 1.25
  client_max_body_size 20m;
  location ~* "^/a/\\d{2}" { return 301 https://$host\${uri}; }
}`,
  );
  for (const name of ['server', 'http2', 'client_max_body_size', 'location', 'return'])
    assert.equal(styleOf(all, name), 'keyword', name);
  assert.equal(styleOf(all, 'on'), 'atom');
  assert.equal(styleOf(all, '20m'), 'number');
  assert.equal(styleOf(all, '301'), 'number');
  assert.equal(styleOf(all, '~*'), 'operator');
  assert.equal(styleOf(all, '$host'), 'variable-2');
  assert.equal(styleOf(all, '${uri}'), 'variable-2');
  assert.equal(styleOf(all, '# said since 1.25'), 'comment');
});

test('a string over several lines, and one that is never closed', () => {
  const all = styled(nginx, `log_format main '$remote_addr '\n  '"$request"\n more';\nroot /a;`);
  assert.equal(styleOf(all, " more'"), 'string');
  assert.equal(styleOf(all, 'root'), 'keyword');
  assert.deepEqual(styled(nginx, `root "/a;\n}`).at(-1), ['}', 'string']);
});

test('a block of Lua is Lua up to the brace that closes it, not one in a string, a comment or a table', () => {
  const all = styled(
    nginx,
    `location / {
  access_by_lua_block {
    local rule = { id = 31, cause = "}" } -- }
    --[[ }
    } ]]
    if rule.id then return [[ } ]] end
  }
  proxy_pass http://up;
}
set_by_lua_block $x { return 1 }
root /b;`,
  );
  for (const name of ['local', 'if', 'then', 'end', 'return']) assert.equal(styleOf(all, name), 'keyword', name);
  for (const name of ['proxy_pass', 'set_by_lua_block', 'root']) assert.equal(styleOf(all, name), 'keyword', name);
  assert.equal(styleOf(all, '"}"'), 'string');
  assert.equal(styleOf(all, '-- }'), 'comment');
  assert.equal(styleOf(all, '} ]]'), 'comment', 'over two lines');
  assert.equal(styleOf(all, '$x'), 'variable-2');
});

test('lines are set in by the blocks they stand in, those of Lua too', () => {
  const code = `server {\nlocation / {\naccess_by_lua_block {\nlocal t = {\n}\n}\n}\n}\n`;
  const running = nginx.startState!(2);
  const depths = code.split('\n').map(line => {
    const depth = nginx.indent!(running, line, { unit: 2 } as never);
    const stream = new StringStream(line, 2, 2);
    while (!stream.eol()) {
      stream.start = stream.pos;
      nginx.token(stream, running);
    }
    return depth;
  });
  assert.deepEqual(depths, [0, 2, 4, 6, 6, 4, 2, 0, 0]);
});

test('any text ends: every language goes on in every line', () => {
  const strange = [
    '{}'.repeat(50),
    '}}}}',
    '$',
    '"',
    "'",
    '\\',
    '[[',
    '--[==[',
    '<',
    '<!--',
    '`',
    '~=^',
    '${',
    '{{requestID}}',
    '\t',
    ' ',
  ];
  for (const parser of Object.values(codeLanguages))
    for (const one of strange)
      for (const other of strange) styled(parser as StreamParser<unknown>, `${one}${other}\n${other}\n${one}`);
});
