"""Ruiz, Muralidhar, Domingo-Ferrer 2018."""
