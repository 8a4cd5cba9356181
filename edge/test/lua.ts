/** Lua of the edge by itself: nginx runs what a test sends it. `await using lua = await startLua()` ends it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './harness.ts';

const conf = (folder: string, luaDir: string) => `
worker_processes 1;
pid ${folder}/nginx.pid;
${process.getuid?.() === 0 ? 'user root;' : ''}
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
events { worker_connections 64; }
http {
  lua_package_path "${luaDir}/?.lua;;";
  ${['cfg', 'crt', 'rt', 'sig', 'count', 'inv'].map(name => `lua_shared_dict ${name} 8m;`).join(' ')}
  lua_regex_match_limit 10000;
  lua_regex_cache_max_entries 16384;
  access_log off;
  client_body_temp_path ${folder}/t1; proxy_temp_path ${folder}/t2; fastcgi_temp_path ${folder}/t3; uwsgi_temp_path ${folder}/t4; scgi_temp_path ${folder}/t5;
  server {
    listen unix:${folder}/lua.sock;
    client_max_body_size 8m;
    client_body_buffer_size 8m;
    location / {
      content_by_lua_block {
        ngx.req.read_body()
        local chunk, why = loadstring(ngx.req.get_body_data(), "test")
        if not chunk then ngx.status = 500 return ngx.print(why) end
        local ok, result = xpcall(chunk, debug.traceback)
        if not ok then ngx.status = 500 end
        ngx.print(tostring(result))
      }
    }
  }
}`;

export async function startLua(luaDir = new URL('../lua', import.meta.url).pathname) {
  const folder = mkdtempSync(join(tmpdir(), 'lua-'));
  writeFileSync(join(folder, 'nginx.conf'), conf(folder, luaDir));
  const log = join(folder, 'error.log');
  const child = spawn('nginx', ['-p', folder, '-e', log, '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'], {
    stdio: 'inherit',
  });
  const exited = once(child, 'exit');
  /** What the chunk returns, as text. An error in it rejects. */
  const run = (chunk: string, path = '/', headers: http.OutgoingHttpHeaders = {}) =>
    new Promise<string>((resolve, reject) => {
      const request = http.request(
        { socketPath: join(folder, 'lua.sock'), method: 'POST', path, headers, agent: false },
        response => {
          let body = '';
          response.setEncoding('utf8');
          response.on('data', piece => (body += piece));
          response.on('end', () => (response.statusCode === 200 ? resolve(body) : reject(new Error(body))));
        },
      );
      request.on('error', reject);
      request.end(chunk);
    });
  await until('nginx runs Lua', () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${readFileSync(log, 'utf8')}`);
    return run('return 1').catch(() => false);
  });
  return {
    run,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
export type Lua = Awaited<ReturnType<typeof startLua>>;
