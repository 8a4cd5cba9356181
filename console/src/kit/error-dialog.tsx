/** 101009: what went wrong, and for whom (§8). */
import { Modal, Table } from 'antd';
import { useRef } from 'react';
import { CopyButton } from './copy.tsx';
import { type ErrorGroup, groupsAsText } from './errors.ts';
import { t } from './text.ts';

const widthPx = 520;
const scrollAtPx = 320;

interface Props {
  groups: ErrorGroup[];
  /** So many of the targets can be tried again from here. */
  again?: number;
  onClose: (isAgain?: boolean) => void;
}

export function ErrorDialog({ groups, again = 0, onClose }: Props) {
  const close = useRef<HTMLButtonElement>(null);
  return (
    <Modal
      open
      title={t('message.multipleError')}
      width={widthPx}
      onCancel={() => onClose()}
      // the dialog takes the focus once it is open
      afterOpenChange={isOpen => isOpen && close.current?.focus()}
      mask={{ blur: false }}
      footer={
        <div className="dialog-footer">
          <CopyButton text={groupsAsText(groups)} label={t('action.copyText')} />
          <span className="grow" />
          {again > 0 && (
            <button type="button" className="button" onClick={() => onClose(true)}>
              {t('error.again', { count: again })}
            </button>
          )}
          <button type="button" ref={close} className="button button-primary" onClick={() => onClose()}>
            {t('action.close')}
          </button>
        </div>
      }
    >
      <Table
        className="plain-table"
        size="small"
        pagination={false}
        scroll={{ y: scrollAtPx }}
        rowKey={group => `${group.code} ${group.text}`}
        dataSource={groups}
        columns={[
          {
            title: t('error.message'),
            width: '48%',
            render: (_, group) => (
              <>
                {group.text} <span className="mono ink-3">{group.code}</span>
              </>
            ),
          },
          {
            title: t('error.targets'),
            render: (_, group) => (
              <div className="mono targets" tabIndex={0} role="group" aria-label={t('error.targets')}>
                {group.targets.map(target => (
                  <div key={target}>{target}</div>
                ))}
              </div>
            ),
          },
        ]}
      />
    </Modal>
  );
}
