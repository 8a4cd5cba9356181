/** All that the pages before the shell say, as one file to load. */
import base from './base.zh_TW.ts';
import first from './first.zh_TW.ts';

export default { ...base, ...first };
