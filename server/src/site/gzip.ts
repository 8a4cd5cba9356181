import { gzip } from '#contract/site/gzip.ts';
import { implementSetting } from '../kit/setting.ts';

export const gzipImplementation = implementSetting(gzip, 'site');
