import { AskedNow } from '../../src/kit/asked-now.tsx';
import { ApiError } from '../../src/kit/transport.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const title = { zh_TW: '測試結果', zh_CN: '测试结果', en_US: 'What it says' };
const none = { zh_TW: '沒有內容', zh_CN: '没有内容', en_US: 'Nothing there' };
const refused = new ApiError({
  code: 101010,
  message: 'dnsExecution',
  status: 400,
  errorData: [{ path: 'id', rule: 'dnsSaid', bounds: { why: '192.0.2.53: NOTAUTH' } }],
});
type Asked = Parameters<typeof AskedNow<string[]>>[0]['asked'];
const drawer =
  (asked: Partial<Asked>) =>
  (close: () => void): React.ReactNode => (
    <AskedNow<string[]>
      title={say(title)}
      asked={{ data: undefined, error: null, isFetching: false, refetch: () => new Promise(() => {}), ...asked }}
      onClose={close}
    >
      {lines =>
        lines.length ? (
          <ul className="rows">
            {lines.map(line => (
              <li key={line}>
                <span className="grow mono">{line}</span>
              </li>
            ))}
          </ul>
        ) : (
          <p className="ink-2">{say(none)}</p>
        )
      }
    </AskedNow>
  );

export default [
  { state: 'normal', open: drawer({ data: ['cdn.example.net', 'cdn.example.org'] }) },
  { state: 'empty', open: drawer({ data: [] }) },
  { state: 'loading', open: drawer({ isFetching: true }) },
  { state: 'failed', open: drawer({ error: new ApiError({ code: 0, message: '' }) }) },
  {
    state: 'failed',
    note: { zh_TW: '對方說明了原因', zh_CN: '对方说明了原因', en_US: 'with a sentence of its own' },
    open: drawer({ error: refused }),
  },
  { state: 'long', open: drawer({ data: [`${say(long)} ${unbroken}`] }) },
  { state: 'many', open: drawer({ data: Array.from({ length: 100 }, (_, n) => `n${n}.cdn.example.net`) }) },
] satisfies Example[];
