import { customHeader as declared } from '../../module/custom-headers.ts';
import { contentOf, moduleType } from './type.ts';

export const customHeader = moduleType({ name: 'customHeader', content: contentOf(declared), keys: ['name', 'value'] });
