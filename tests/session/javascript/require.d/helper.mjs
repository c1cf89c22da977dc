export const helper=()=>'helped'; export const other=5;
