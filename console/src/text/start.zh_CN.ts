/** All that the pages before the shell say, as one file to load. */
import base from './base.zh_CN.ts';
import first from './first.zh_CN.ts';

export default { ...base, ...first };
