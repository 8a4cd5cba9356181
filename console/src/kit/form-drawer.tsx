/** The drawer in which a row is made or changed. */
import { Button, Drawer } from 'antd';
import { type CoreProps, useForm } from './form-core.tsx';
import { commandKey } from './shortcuts.ts';
import { t } from './text.ts';

const widthPx = 640;

export interface FormProps extends Omit<CoreProps, 'stays'> {
  title: string;
  widthPx?: number;
  onClose: () => void;
}

export function FormDrawer({ title, widthPx: wide = widthPx, ...props }: FormProps) {
  const { content, side, isBusy, isIdle, conflict, save, close } = useForm(props);
  return (
    <Drawer
      open
      title={title}
      size={wide}
      mask={{ blur: false }}
      onClose={() => void close()}
      autoFocus
      footer={
        <div className="dialog-footer">
          <span className="grow ink-3">{props.isReadOnly ? t('form.readOnly') : isIdle && t('form.unchanged')}</span>
          <Button onClick={() => void close()}>{t(props.isReadOnly ? 'action.close' : 'action.cancel')}</Button>
          {side === 'form' && !props.isReadOnly && (
            <Button type="primary" loading={isBusy} disabled={isIdle || !!conflict} onClick={() => void save()}>
              {t('action.save')} <kbd>{commandKey}↵</kbd>
            </Button>
          )}
        </div>
      }
    >
      {content}
    </Drawer>
  );
}
