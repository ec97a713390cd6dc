// uPlot as modules import it, loaded with the first chart.

export { default as UPlot } from "./vendor/uplot@1.6.32/uplot.js";
