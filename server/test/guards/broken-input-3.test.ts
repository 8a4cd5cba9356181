import { brokenInput } from './broken-input.ts';

brokenInput(3, 3);
