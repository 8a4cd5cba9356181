import { foreignOperator } from './foreign-operator.ts';

foreignOperator(2, 2);
