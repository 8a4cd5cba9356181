import { useState } from 'react';
import { Transfer } from '../../src/kit/pieces.ts';
import type { Choice, Found } from '../../src/kit/choices.ts';
import type { TransferProps } from '../../src/kit/transfer.tsx';
import { ApiError } from '../../src/kit/transport.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

const label = { zh_TW: '使用這個模組的網域', zh_CN: '使用这个模块的域名', en_US: 'Domains that use this module' };
const domains = (count: number): Choice[] =>
  Array.from({ length: count }, (_, at) => ({ value: at + 1, label: `www-${at + 1}.example.com` }));
const whole = (options: Choice[]): Found => ({ options, isPending: false });
function Chosen({ first = [], found, ...props }: { first?: TransferProps['value']; found: Found } & Partial<TransferProps>) {
  const [value, setValue] = useState(first);
  return <Transfer {...props} aria-label={say(label)} found={found} value={value} onChange={setValue} />;
}
const every = domains(5000);
const pageSize = 50;
/** As a list of the server is: what is typed it looks for, and further pages come as they are asked for. */
function Paged() {
  const [typed, search] = useState('');
  const [pages, setPages] = useState(1);
  const matching = every.filter(one => one.label.includes(typed));
  const found: Found = {
    options: matching.slice(0, pages * pageSize),
    total: matching.length,
    isPending: false,
    search: text => {
      setPages(1);
      search(text);
    },
    more: pages * pageSize < matching.length ? () => setPages(pages + 1) : undefined,
  };
  return <Chosen found={found} first={[3, 7]} />;
}

export default [
  {
    state: 'normal',
    show: () => (
      <Chosen
        found={whole([
          ...domains(20),
          {
            value: 99,
            label: `www-99.example.com · ${say({ zh_TW: '已停用', zh_CN: '已停用', en_US: 'disabled' })}`,
            disabled: true,
          },
        ])}
        first={[2, 5]}
      />
    ),
  },
  { state: 'empty', show: () => <Chosen found={whole([])} /> },
  { state: 'loading', show: () => <Chosen found={{ options: [], isPending: true }} /> },
  {
    state: 'failed',
    show: () => (
      <Chosen
        found={{
          options: [],
          isPending: false,
          error: new ApiError({ code: 101001, message: '', status: 500 }),
          retry: () => {},
        }}
      />
    ),
  },
  { state: 'disabled', show: () => <Chosen found={whole(domains(4))} first={[1]} why={say(long)} /> },
  { state: 'readOnly', show: () => <Chosen found={whole(domains(4))} first={[1]} isReadOnly /> },
  { state: 'invalid', show: () => <Chosen found={whole(domains(4))} aria-invalid /> },
  {
    state: 'long',
    show: () => (
      <Chosen
        found={whole([
          { value: 1, label: unbroken },
          { value: 2, label: say(long) },
        ])}
        first={[1]}
      />
    ),
  },
  {
    state: 'many',
    note: { zh_TW: '5,000 項，分頁載入', zh_CN: '5,000 项，分页加载', en_US: '5,000, page by page' },
    show: () => <Paged />,
  },
] satisfies Example[];
