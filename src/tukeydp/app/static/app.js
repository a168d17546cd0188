"use strict";
// Every page works without this script. It moves the forecast with the slider, shows how long a release has taken,
// and puts the focus where a screen reader should begin: on what went wrong, or on the heading.
(document.querySelector("[role=alert]") ?? document.querySelector("h1"))?.focus({ preventScroll: true });

const file = document.getElementById("file");
file?.addEventListener("change", () => {
  const large = file.files[0]?.size > Number(file.dataset.largest);
  file.setCustomValidity(large ? file.dataset.tooLarge : "");
  file.reportValidity();
});

document.querySelectorAll("form.once").forEach((form) =>
  form.addEventListener("submit", () => setTimeout(() => form.querySelectorAll("button").forEach((b) => (b.disabled = true)))));

const live = document.querySelector("form.live");
if (live) {
  const slider = document.getElementById("slider"), epsilon = document.getElementById("epsilon");
  const region = document.getElementById("forecast"), said = document.getElementById("said");
  let waiting = 0, latest = 0;
  const place = () => { slider.value = Math.round(10 * Math.log10(Number(epsilon.value.replace(",", ".")))) || 0; };
  const describe = () => slider.setAttribute("aria-valuetext", "epsilon " + epsilon.value);
  const forecast = async () => {
    const mine = ++latest;
    const answer = await fetch("/plan", { method: "POST", body: new FormData(live), headers: { "X-Live": "1" } });
    if (mine !== latest || !answer.ok) return;
    region.innerHTML = await answer.text();
    said.textContent = Array.from(region.querySelectorAll(".said"), (part) => part.textContent).join(" ");
  };
  slider.closest("p").hidden = false;
  place();
  describe();
  slider.addEventListener("input", () => { epsilon.value = Number((10 ** (slider.value / 10)).toPrecision(2)); describe(); });
  epsilon.addEventListener("input", () => { place(); describe(); });
  live.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(forecast, 200); });
}

const elapsed = document.getElementById("elapsed");
if (elapsed) {
  const ask = async () => {
    const { seconds } = await (await fetch("/status")).json();
    if (seconds === null) location.replace("/release");
    else elapsed.textContent = seconds;
  };
  setInterval(() => ask().catch(() => {}), 500);
}
