/** A node's memo, changed where it stands. */
import { Typography } from 'antd';
import { useState } from 'react';
import { useCan } from '../kit/permissions.ts';
import { useAction } from '../kit/query.ts';
import { t } from '../kit/text.ts';
import type { Node } from './state.ts';

const longest = 255;

export function NodeMemo({ node }: { node: Node }) {
  const can = useCan();
  const save = useAction('PUT /client/nodes/memo');
  const [typed, setTyped] = useState<string>();
  const memo = typed ?? node.memo;
  if (!can('PUT /client/nodes/memo')) return <>{memo || '–'}</>;
  const change = async (text: string) => {
    if (text === node.memo) return;
    setTyped(text);
    await save.run({ body: { ids: [node.id], memo: text } });
    setTyped(undefined);
  };
  return (
    <Typography.Text
      disabled={save.isPending}
      editable={{ text: memo, maxLength: longest, tooltip: t('action.setMemo'), onChange: text => void change(text) }}
    >
      {memo || '–'}
    </Typography.Text>
  );
}
