import { Button } from 'antd';
import { CopyButton } from '../../src/kit/copy.tsx';
import { Page } from '../../src/kit/page.tsx';
import { t } from '../../src/kit/text.ts';
import type { Example } from '../pieces.ts';
import { long, say, unbroken } from '../words.ts';

export default [
  {
    state: 'normal',
    show: () => (
      <Page
        title={t('page.blacklists')}
        note={t('empty.blacklists')}
        actions={
          <>
            <CopyButton text="203.0.113.7" label={t('action.copyText')} />
            <Button type="primary">{t('action.create')}</Button>
          </>
        }
      >
        <div className="panel panel-padded">{say(long)}</div>
      </Page>
    ),
  },
  {
    state: 'disabled',
    show: () => (
      <Page
        title={t('page.blacklists')}
        note={t('view.noRight')}
        actions={
          <Button type="primary" disabled title={t('view.noRight')}>
            {t('action.create')}
          </Button>
        }
      >
        <div className="panel panel-padded" />
      </Page>
    ),
  },
  {
    state: 'long',
    show: () => (
      <Page title={unbroken} note={say(long)} actions={<Button type="primary">{t('action.create')}</Button>}>
        <div className="panel panel-padded">{say(long)}</div>
      </Page>
    ),
  },
] satisfies Example[];
