import { Input } from 'antd';
import { useState } from 'react';
import { CodeField } from '../../src/kit/code-field.tsx';
import { CodeEditor } from '../../src/kit/pieces.ts';
import type { Example } from '../pieces.ts';
import { say, unbroken } from '../words.ts';

const nginx = String.raw`# Lua stands within nginx, with braces of its own
map $http_upgrade $connection_upgrade { default upgrade; '' close; }
server {
  listen 443 ssl;
  http2 on;
  client_max_body_size 20m;
  location ~ "^/api/v\d{1,2}/" {
    access_by_lua_block {
      local left, err = limit:incoming(ngx.var.remote_addr, true)
      if not left then -- a brace in a string ends nothing: "}"
        return ngx.exit(err == "rejected" and 929 or 500)
      end
      ngx.ctx.rule = { id = 31, cause = [[a } too]] }
    }
    proxy_pass http://$upstream_name;
    proxy_read_timeout 30s;
  }
}
`;
const html = `<!doctype html>
<html lang="zh-Hant-TW">
  <head><title>502</title></head>
  <body>
    <!-- {{requestID}} -->
    <h1 class="title">502</h1>
  </body>
</html>
`;
const javascript = `const answer = await fetch('/status');
if (!answer.ok) document.title = \`\${answer.status}\`; // says why
`;
const lua = `local M = {}
function M.of(host) return string.lower(host) end
return M
`;
const why = {
  zh_TW: '站點已暫停，無法修改。',
  zh_CN: '站点已暂停，无法修改。',
  en_US: 'The site is paused and cannot be changed.',
};

function Own({ language, text }: { language: 'nginx' | 'lua' | 'html' | 'javascript'; text: string }) {
  const [value, setValue] = useState(text);
  return <CodeEditor language={language} aria-label={language} value={value} onChange={setValue} />;
}

export default [
  { state: 'normal', note: 'nginx, Lua', show: () => <Own language="nginx" text={nginx} /> },
  { state: 'normal', note: 'HTML', show: () => <Own language="html" text={html} /> },
  { state: 'normal', note: 'JavaScript', show: () => <Own language="javascript" text={javascript} /> },
  { state: 'normal', note: 'Lua', show: () => <Own language="lua" text={lua} /> },
  {
    state: 'normal',
    note: { zh_TW: '表單欄位：點入後才載入', zh_CN: '表单字段：点入后才加载', en_US: 'A field of a form: comes when gone into' },
    show: () => (
      <CodeField
        language="html"
        aria-label="HTML"
        value={html}
        area={<Input.TextArea className="mono" aria-label="HTML" rows={5} value={html} readOnly />}
      />
    ),
  },
  { state: 'empty', show: () => <CodeEditor language="nginx" aria-label="nginx" placeholder="location / { … }" /> },
  { state: 'disabled', show: () => <CodeEditor language="nginx" aria-label="nginx" value={nginx} why={say(why)} /> },
  { state: 'readOnly', show: () => <CodeEditor language="html" aria-label="HTML" value={html} isReadOnly /> },
  { state: 'invalid', show: () => <CodeEditor language="html" aria-label="HTML" value={html} aria-invalid /> },
  { state: 'long', show: () => <Own language="nginx" text={`return 301 https://${unbroken};\n`} /> },
  { state: 'many', show: () => <Own language="nginx" text={nginx.repeat(150)} /> },
] satisfies Example[];
